// How many formulas of the Feynman Symbolic Regression Database `nalm fit` finds again.
#include "tasks/formulas/formula_fits.hpp"

namespace nalm {
namespace {

const FormulaBenchmark feynman_formulas{.formulas = feynman_set,
                                        .parts = feynman_parts,
                                        .rows = "10000",
                                        .noise = "0,0.001,0.01,0.1",
                                        .quick = {"I.12.1", "I.18.4", "I.34.1"},
                                        .noise_unit = NoiseUnit::RootMeanSquare,
                                        .rule = around_the_data};

// Rates of the whole set say nothing about a part of it.
std::vector<PublishedFigure> published_rates(const Plan& plan) {
  const bool whole = plan.preset == "full" && plan.models.empty() && plan.option("part").empty();
  return whole ? published_in_tasks_csv("feynman") : std::vector<PublishedFigure>();
}

}  // namespace

extern const Task feynman_task{
    .name = "feynman",
    .title = "Formulas of Feynman's lectures that nalm fit finds again",
    .source = "Udrescu and Tegmark 2020, AI Feynman; La Cava et al. 2021, SRBench",
    .settings =
        "The formulas of the Feynman Symbolic Regression Database with their official ranges, 10,000 rows, Gaussian "
        "noise with a share of the target's root mean square as its deviation; every seed has its own rows, noise and "
        "search. Recovered: the verdict is law and, without noise, the formula that was found has a root mean square "
        "error below 1e-6 of the target's on fresh rows and on a box 1.3 times as wide; with noise, it is the true one "
        "with every constant inside its 99 % interval.",
    .differences = {"SRBench rounds constants and asks SymPy whether the difference or the ratio of two formulas is a "
                    "constant; benchmarks/srbench_rule.py applies that rule to a finished benchmark.",
                    "SRBench has ten seeds and a limit of eight hours for a fit.",
                    "The published rates are those of the 81 arithmetic formulas, by SRBench's rule."},
    .presets = {{"quick", "three formulas, 200 rows, without noise", 1, "seconds"},
                {"full", "the arithmetic formulas, or those of --part, with every noise", 5, "hours"}},
    .checks = {{"", "!function", "*noise 0 rms", "success", true, 0.98, ""},
               {"", "!function", "*noise 0.01 rms", "success", true, 0.93, ""},
               {"", "!function", "*noise 0.1 rms", "success", true, 0.83, ""}},
    .options = {{"rows", "rows of the tables (10000)"},
                {"noise", "noise as shares of the target's root mean square (0,0.001,0.01,0.1)"},
                {"functions", "functions that a fit may use, such as exp,log or all (none)"},
                {"part",
                 "arithmetic (the default), functions, which need exp, log, sin, cos, tanh, asin or acos, or all"}},
    .cells = [](const Plan& plan, std::vector<std::string>&) { return formula_cells(plan, feynman_formulas); },
    .emit = [](const Plan& plan, const std::string& folder) { return emit_tables(plan, feynman_formulas, folder); },
    .published = published_rates,
    .model_word = "name",
    .setting_word = "setting",
    .layout = Task::Layout::Runs,
    .first_seed = 1,
};

}  // namespace nalm
