// How many of our own set of formulas `nalm fit` finds again.
#include "tasks/formulas/formula_fits.hpp"

namespace nalm {
namespace {

const FormulaBenchmark own_formulas{.formulas = formula_set,
                                    .parts = formula_parts,
                                    .rows = "200,10000",
                                    .noise = "0,0.01,0.1",
                                    .quick = {"friction_force", "kinetic_energy_3d", "parallel_resistors"},
                                    .noise_unit = NoiseUnit::Deviation,
                                    .rule = far_outside};

}  // namespace

extern const Task formulas_task{
    .name = "formulas",
    .title = "Formulas that nalm fit finds again",
    .source = "data/formulas.csv",
    .settings =
        "Tables made from known formulas, with columns that do not matter, with and without Gaussian noise (a share of "
        "the target's standard deviation). Recovered: without noise, the formula that was found gives the true values "
        "to 1e-6 on a box ten times as wide; with noise, it is the true one with every constant inside its interval.",
    .presets = {{"quick", "three formulas, 200 rows, without noise", 1, "seconds"},
                {"full", "the formulas of --part, with every number of rows and every noise", 1,
                 "a quarter of an hour"}},
    .checks = {{"", "!comparison", "*noise 0", "success", true, 0.9, ""},
               {"", "!comparison", "*noise 0.01", "success", true, 0.8, ""}},
    .options = {{"rows", "rows of the tables, such as 200,10000 (both)"},
                {"noise", "noise as shares of the target's standard deviation (0,0.01,0.1)"},
                {"part", "tune (the default), unseen or all of the set; who works on the search leaves unseen alone"}},
    .cells = [](const Plan& plan, std::vector<std::string>&) { return formula_cells(plan, own_formulas); },
    .emit = [](const Plan& plan, const std::string& folder) { return emit_tables(plan, own_formulas, folder); },
    .model_word = "name",
    .setting_word = "setting",
    .layout = Task::Layout::Runs,
    .first_seed = 1,
};

}  // namespace nalm
