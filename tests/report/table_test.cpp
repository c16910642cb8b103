// Tables as text: other programs can read them, and they say what the results say. Of both layouts: the grid of the
// single module task, and the cells of every other one.
#include "report/table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "experiment/by_hand.hpp"
#include "report/result_figures.hpp"

namespace nalm::table_test {
namespace {

namespace fs = std::filesystem;

const double none = std::nan("");

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Every line has as many cells as the heading.
void expect_even(const std::string& csv) {
  const std::vector<std::string> lines = lines_of(csv);
  for (const std::string& line : lines) EXPECT_EQ(cells_of(line).size(), cells_of(lines.front()).size()) << line;
}

const std::string changed_recipe = R"({"clip_norm": 1})";

// ---- the grid ------------------------------------------------------------------------------------------------------

// Four runs, of which the first ones succeed.
void set_cell(Results& results, std::size_t c, int successes, const Estimate& solved_at, const Estimate& sparsity) {
  const Cell& cell = results.cells[c];
  std::vector<RunResult> runs;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    RunResult run = run_of(cell, seed, static_cast<int>(seed) < successes, 100 * seed);
    run.judged_step = 1000 * seed;
    run.values = {0.5, seed == 2 ? none : 0.1, 0.25};
    run.trask = 50.0;
    run.limit = 1.0 / 3;
    if (!run.success) run.failure = Failure{"wrong weights", "W[2] = -0.98 instead of 1", ""};
    runs.push_back(run);
  }
  CellResult result = summarise(cell, runs);
  result.solved_at = solved_at;
  result.sparsity = sparsity;
  result.median_solved_at = solved_at.value;
  result.median_sparsity = sparsity.value;
  results.results[c] = result;
}

// Cells of each kind: none solved, one (which has no interval), some, all.
Results grid_results() {
  Results results = results_of(plan_of("single-module", "primer", "NAC+,NAC*,NMU", "add,mul", "0,6,7", "0..3"));
  results.info.version = "1.2.3";
  EXPECT_EQ(results.cells.size(), 9u);
  const Estimate nothing{none, none, none};
  set_cell(results, 0, 4, {1000, 900, 1100}, {1e-5, 1e-6, 1e-4});  // NAC+
  set_cell(results, 1, 0, nothing, nothing);
  set_cell(results, 2, 0, nothing, nothing);
  set_cell(results, 3, 0, nothing, nothing);  // NAC*
  set_cell(results, 4, 1, {48000, none, none}, {1.4e-05, none, none});
  set_cell(results, 5, 2, {0.1 + 0.2, 0.1, 1.0 / 3}, {1.2e-05, 1e-05, 1.3e-05});
  set_cell(results, 6, 4, {2800, 2630, 2960}, {0, 0, 0});  // NMU
  set_cell(results, 7, 4, {2900, 2630, 3960}, {0, 0, 1e-9});
  set_cell(results, 8, 3, {2800, 2700, 2900}, {2e-9, 1e-9, 3e-9});
  return results;
}

const std::string grid_columns =
    "module,operation,range,success,success_lo,success_hi,solved_at,solved_at_lo,solved_at_hi,sparsity,sparsity_lo,"
    "sparsity_hi,runs,successes,ever,at_end,published";

TEST(CsvTable, HasTheColumnsOfTheReferenceFileAndMore) {
  const std::string reference = lines_of(text_of(NALM_SOURCE_DIR "/data/primer_single_module.csv")).front();
  EXPECT_EQ(reference + ",runs,successes,ever,at_end,published", grid_columns);
  EXPECT_EQ(lines_of(print_table(grid_results(), "", "csv")).front(), grid_columns + ",limit,solved_at_median");
}

// Programs read columns by their place as well: new ones come after the old ones.
TEST(CsvTable, EveryMetricOfAGridBeginsAsBefore) {
  const Results results = grid_results();
  const auto heading = [&](std::string_view metric) { return lines_of(print_table(results, metric, "csv")).front(); };
  EXPECT_EQ(heading("success"), heading(""));
  EXPECT_EQ(heading("all"), grid_columns +
                                ",limit,solved_at_median"
                                ",validation_mse_median,validation_mse_mad,validation_mse_published"
                                ",test_mse_median,test_mse_mad,test_mse_published"
                                ",sparsity_error_median,sparsity_error_mad,sparsity_error_published"
                                ",trask_median,trask_mad,trask_published"
                                ",before_regularisers,before_regularisers_lo,before_regularisers_hi"
                                ",threshold,threshold_lo,threshold_hi");
  EXPECT_TRUE(heading("mad").starts_with("module,operation,range,validation_mse_median,validation_mse_mad,"));
  EXPECT_EQ(heading("trask"), "module,operation,range,trask_median,trask_mad,trask_published");
  EXPECT_EQ(heading("pre-regularisation"),
            "module,operation,range,before_regularisers,before_regularisers_lo,before_regularisers_hi");
  EXPECT_TRUE(heading("threshold").starts_with(grid_columns));
  EXPECT_TRUE(heading("threshold").ends_with(",threshold,threshold_lo,threshold_hi"));
  for (const Metric& metric : metrics()) expect_even(print_table(results, metric.name, "csv"));
  expect_even(print_table(results, "all", "csv"));
}

TEST(CsvTable, ReadsBackToTheSameNumbers) {
  const Results results = grid_results();
  const std::vector<std::string> lines = lines_of(print_table(results, "", "csv"));
  ASSERT_EQ(lines.size(), results.cells.size() + 1);
  for (std::size_t k = 0; k < results.cells.size(); ++k) {
    const CellResult& cell = results.results[k];
    const std::vector<std::string> cells = cells_of(lines[k + 1]);
    ASSERT_EQ(cells.size(), 19u) << lines[k + 1];
    EXPECT_EQ(cells[0], cell.cell->model);
    EXPECT_EQ(cells[1], cell.cell->operation);
    EXPECT_EQ(cells[2], cell.cell->setting);
    const double wanted[] = {cell.success.value,   cell.success.lo,   cell.success.hi,
                             cell.solved_at.value, cell.solved_at.lo, cell.solved_at.hi,
                             cell.sparsity.value,  cell.sparsity.lo,  cell.sparsity.hi};
    const auto expect_number = [](const std::string& text, double number) {
      if (std::isnan(number)) {
        EXPECT_EQ(text, "");
      } else {
        EXPECT_EQ(std::strtod(text.c_str(), nullptr), number) << text;
      }
    };
    for (std::size_t c = 0; c < 9; ++c) expect_number(cells[3 + c], wanted[c]);
    EXPECT_EQ(cells[12], "4");
    EXPECT_EQ(cells[13], std::to_string(cell.successes));
    EXPECT_EQ(cells[14], std::to_string(*cell.ever));
    EXPECT_EQ(cells[15], std::to_string(*cell.at_end));
    expect_number(cells[16], results.published_for(*cell.cell, "success").front()->value.value);
    expect_number(cells[17], 1.0 / 3);
    expect_number(cells[18], cell.median_solved_at);
  }
}

TEST(CsvTable, WhatCannotBeToldIsEmpty) {
  Results results = grid_results();
  results.results[0].ever.reset();
  results.results[0].at_end.reset();
  const std::vector<std::string> cells = cells_of(lines_of(print_table(results, "", "csv"))[1]);
  EXPECT_EQ(cells[14], "");
  EXPECT_EQ(cells[15], "");
}

TEST(JsonTable, HasEveryCellAndEveryRun) {
  const Results results = grid_results();
  const nlohmann::json json = nlohmann::json::parse(print_table(results, "", "json"));
  EXPECT_EQ(json["version"], "1.2.3");
  EXPECT_EQ(json["intervals"], "honest");
  ASSERT_EQ(json["cells"].size(), results.cells.size());
  for (std::size_t k = 0; k < results.cells.size(); ++k) {
    const nlohmann::json& cell = json["cells"][k];
    const CellResult& wanted = results.results[k];
    EXPECT_EQ(cell["module"], wanted.cell->model);
    EXPECT_EQ(cell["operation"], wanted.cell->operation);
    EXPECT_EQ(cell["range"], wanted.cell->setting);
    EXPECT_EQ(cell["successes"], wanted.successes);
    EXPECT_EQ(cell["goal"]["below"], 1.0 / 3);
    EXPECT_EQ(cell["solved_at"]["value"].is_null(), std::isnan(wanted.solved_at.value));
    EXPECT_EQ(cell["solved_at"]["lo"].is_null(), std::isnan(wanted.solved_at.lo));
    if (!std::isnan(wanted.solved_at.value)) {
      EXPECT_EQ(cell["solved_at"]["value"], wanted.solved_at.value);
    }
    ASSERT_EQ(cell["seeds"].size(), 4u);
    for (std::size_t run = 0; run < 4; ++run) {
      const nlohmann::json& one = cell["seeds"][run];
      const bool success = static_cast<int>(run) < wanted.successes;
      EXPECT_EQ(one["seed"], run);
      EXPECT_EQ(one["success"], success);
      EXPECT_EQ(one["solved_at"].is_null(), !success);
      EXPECT_EQ(one["judged_step"], 1000 * run);
      EXPECT_EQ(one["values"]["test_mse"].is_null(), run == 2);
      EXPECT_EQ(one.contains("failure"), !success);
      if (!success) {
        EXPECT_EQ(one["failure"]["detail"], "W[2] = -0.98 instead of 1");
      }
    }
  }
}

TEST(MarkdownTable, EveryRowHasTheColumnsOfItsHeading) {
  std::size_t rows = 0;
  for (const std::string& line : lines_of(print_table(grid_results(), "", "markdown"))) {
    if (!line.starts_with("|")) continue;
    ++rows;
    EXPECT_EQ(count(line, "|"), 10u) << line;
    EXPECT_TRUE(line.ends_with("|")) << line;
    EXPECT_EQ(count(line, "*"), count(line, "\\*")) << line;
  }
  EXPECT_EQ(rows, 9u + 2 * 2);  // cells, and for each of the two operations a heading and a rule
}

TEST(TerminalTable, ShowsEveryCellInColumns) {
  Results results = grid_results();
  const std::string text = print_table(results, "", "terminal");
  EXPECT_LT(text.find("Addition"), text.find("Multiplication"));
  EXPECT_FALSE(contains(text, "Division"));
  EXPECT_TRUE(contains(text, "\nNMU     U[1,2)      ")) << text;
  EXPECT_TRUE(contains(text, "1/4")) << text;
  EXPECT_TRUE(contains(text, "2800 [2630, 2960]")) << text;
  EXPECT_FALSE(contains(text, "nan")) << text;
  EXPECT_FALSE(contains(text, "missing")) << text;
  EXPECT_FALSE(contains(text, "Not the task's own settings")) << text;
  for (const std::string& line : lines_of(text)) EXPECT_FALSE(line.ends_with(' ')) << line;
  results.missing = 7;
  EXPECT_TRUE(contains(print_table(results, "", "terminal"), "7 runs are missing: the task is not finished"));
}

TEST(TerminalTable, EveryMetricOfAGridHasItsColumnAndItsNote) {
  Results results = grid_results();
  const auto text = [&](std::string_view metric) { return print_table(results, metric, "terminal"); };
  EXPECT_EQ(text("success"), text(""));
  EXPECT_TRUE(contains(text("success"), "Solved: test_mse below")) << text("success");
  EXPECT_TRUE(contains(text("mad"), "0.5 +- 0")) << text("mad");
  EXPECT_TRUE(contains(text("mad"), "(Heim)")) << text("mad");
  EXPECT_FALSE(contains(text("mad"), "0/4   0")) << text("mad");
  EXPECT_TRUE(contains(text("trask"), "% of start")) << text("trask");
  EXPECT_TRUE(contains(text("trask"), "50 +- 0")) << text("trask");
  EXPECT_TRUE(contains(text("threshold"), "below 1e-05 %")) << text("threshold");
  EXPECT_TRUE(contains(text("threshold"), "(Schlör's)")) << text("threshold");
  results.judgement.criterion = {Criterion::Kind::Limit, 1e-5, 0.2};
  EXPECT_TRUE(contains(text("threshold"), "below 0.2 %")) << text("threshold");
  EXPECT_TRUE(contains(text("threshold"), "75 [30, 95]")) << "0.1, 0.1, not a number, 0.1\n" << text("threshold");
  results.judgement.criterion = {};
  EXPECT_FALSE(contains(text("pre-regularisation"), "before regularisers %")) << "no run says\n";
  for (RunResult& run : results.results[6].runs) run.before_regularisers = run.seed < 3;
  results.results[6] = summarise(results.cells[6], results.results[6].runs);
  EXPECT_TRUE(contains(text("pre-regularisation"), "75 [30, 95]")) << text("pre-regularisation");
  EXPECT_TRUE(contains(text("pre-regularisation"), "Before regularisers: ")) << text("pre-regularisation");
  const std::string all = text("all");
  for (const char* part : {"4/4", "0.5 +- 0", "50 +- 0", "below 1e-05 %", "before regularisers %"})
    EXPECT_TRUE(contains(all, part)) << part << "\n" << all;
}

TEST(Overview, CountsSolvedRuns) {
  const std::string text = print_overview(grid_results());
  EXPECT_TRUE(contains(text,
                       "Multiplication: runs solved\n"
                       "range       NAC*  NMU\n"
                       "U[-20,-10)   0/4  4/4\n"
                       "U[1,2)       1/4  4/4\n"
                       "U[1.1,1.2)   2/4  3/4\n"))
      << text;
}

void expect_balanced(const std::string& text) {
  int depth = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (k > 0 && text[k - 1] == '\\') continue;
    depth += (text[k] == '{') - (text[k] == '}');
    ASSERT_GE(depth, 0) << text.substr(0, k);
  }
  EXPECT_EQ(depth, 0);
  bool first = true;
  for (const std::string& line : lines_of(text)) {
    // A bare per cent sign would swallow the rest of its line; only the first line means that.
    if (!first) {
      EXPECT_EQ(count(line, "%"), count(line, "\\%")) << line;
    }
    first = false;
    EXPECT_EQ(count(line, "$") % 2, 0u) << line;
  }
}

TEST(LatexTable, IsBalanced) {
  const std::string text = print_table(grid_results(), "", "latex");
  expect_balanced(text);
  for (const char* name : {"table", "tabular"}) {
    EXPECT_EQ(count(text, std::string("\\begin{") + name + "}"), 2u);
    EXPECT_EQ(count(text, std::string("\\end{") + name + "}"), 2u);
  }
  std::size_t rows = 0;
  for (const std::string& line : lines_of(text)) {
    if (!line.ends_with("\\\\")) continue;
    ++rows;
    EXPECT_EQ(count(line, "&"), 4u) << line;
  }
  EXPECT_EQ(rows, 9u + 2);
  EXPECT_FALSE(contains(text, "Not the survey's settings")) << text;
  EXPECT_EQ(text, print_table(grid_results(), "success", "latex"));
}

// The row of a range in the part of a module; the module's name stands in its first row only.
std::string latex_row(const std::string& text, const std::string& module, const std::string& range) {
  const std::size_t part = text.find("\n" + module + " & ");
  if (part == text.npos) return "no " + module;
  const std::size_t row = text.find("& " + range + " &", part);
  return text.substr(row, text.find('\n', row) - row);
}

TEST(LatexTable, TheBestOfAModuleIsBoldTiesIncluded) {
  const std::string text = print_table(grid_results(), "", "latex");
  const std::string first = latex_row(text, "NMU", "U[-20,-10)"), second = latex_row(text, "NMU", "U[1,2)"),
                    third = latex_row(text, "NMU", "U[1.1,1.2)");
  EXPECT_EQ(count(first, "\\mathbf{"), 3u) << first;    // most, soonest and sparsest
  EXPECT_EQ(count(second, "\\mathbf{"), 2u) << second;  // as often, and as sparse
  EXPECT_TRUE(contains(second, "$2.9 \\cdot 10^{3} ")) << second;
  EXPECT_EQ(count(third, "\\mathbf{"), 1u) << third;  // as soon
  EXPECT_TRUE(contains(third, "\\mathbf{2.8 \\cdot 10^{3}}")) << third;
  const std::string bullet = "NAC$_{\\bullet}$";
  EXPECT_EQ(count(latex_row(text, bullet, "U[-20,-10)"), "\\mathbf{"), 0u);
  EXPECT_EQ(count(latex_row(text, bullet, "U[-20,-10)"), "---"), 2u);
  EXPECT_EQ(count(latex_row(text, bullet, "U[1,2)"), "\\mathbf{"), 0u);
  EXPECT_EQ(count(latex_row(text, bullet, "U[1.1,1.2)"), "\\mathbf{"), 3u);
  EXPECT_TRUE(contains(text, "\nNAC$_{+}$ & ")) << text;
}

// 9960 is not 10.0 times a thousand.
TEST(LatexTable, NumbersHaveOneDigitBeforeThePoint) {
  Results results = results_of(plan_of("single-module", "primer", "NMU", "mul", "6", "0..3"));
  set_cell(results, 0, 4, {9960, 9000, 10920}, {9.99e-6, 1e-6, 1.999e-5});
  const std::string text = print_table(results, "", "latex");
  EXPECT_FALSE(contains(text, "10.0 \\cdot")) << text;
  EXPECT_TRUE(contains(text, "1.0 \\cdot 10^{4}")) << text;
  EXPECT_TRUE(contains(text, "1.0 \\cdot 10^{-5}")) << text;
}

// A table of other runs than the paper's must not look like the paper's.
TEST(Tables, AChangedRecipeIsMentioned) {
  Results results = grid_results();
  results.info.plan.recipe = changed_recipe;
  results.info.plan.iterations = 100;
  for (const char* format : {"terminal", "markdown"}) {
    const std::string text = print_table(results, "", format);
    EXPECT_TRUE(contains(text,
                         "Not the task's own settings, so not comparable with what was published: --iterations 100 "
                         "--recipe '{\"clip_norm\": 1}'."))
        << text;
  }
  const std::string latex = print_table(results, "", "latex");
  EXPECT_EQ(count(latex, "Not the survey's settings: --iterations 100 --recipe '\\{\"clip\\_norm\": 1\\}'."), 2u)
      << latex;
  expect_balanced(latex);
  const std::string other_latex = print_table(results, "mad", "latex");
  EXPECT_TRUE(contains(other_latex, "clip\\_norm")) << other_latex;
  expect_balanced(other_latex);
  const nlohmann::json json = nlohmann::json::parse(print_table(results, "", "json"));
  EXPECT_EQ(json["changes"].size(), 2u);
}

// ---- cells ---------------------------------------------------------------------------------------------------------

// Four runs of two cells: the first solved three times, the second never; the second has no measure "test".
struct CellsTable : testing::Test {
  CellsTable() {
    results = hand_made_results(2);
    results.cells[1].model = "N_2";
    results.cells[1].measures.pop_back();
    results.cells[1].goal = {"validation", "", 1e-3, false, {}};
    summarise_again();
    const auto number = [](double value) { return Estimate{value, none, none}; };
    results.published = {{"NAC*", "mul", "U[1,2)", "success", number(0.8), "Somebody 2020"},
                         {"NAC*", "mul", "U[1,2)", "test", number(3e-5), "Somebody 2020"},
                         {"NAC*", "mul", "U[1,2)", "test", number(4e-5), "Another, not comparable: mean"},
                         {"X", "mul", "U[1,2)", "success", number(0.1), "of a cell that is not here"}};
  }
  // As the cells' goals and the criterion have it.
  void summarise_again() {
    std::vector<RunResult> first, second;
    const double errors[] = {1e-5, 2e-5, 5e-4, 4};
    const Criterion& criterion = results.judgement.criterion;
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      const std::string note = seed < 3 ? "y = x1*x2" : "";
      first.push_back(
          *judge(results.cells[0], {{0, 1000}, {{9, 8}, {1, errors[seed]}}, {}, note, {}}, seed, criterion));
      second.push_back(*judge(results.cells[1], {{0, 1000}, {{9}, {3}}, {}, "", {}}, seed, criterion));
    }
    results.results = {summarise(results.cells[0], first), summarise(results.cells[1], second)};
  }
  std::string print(std::string_view metric, std::string_view format) { return print_table(results, metric, format); }

  Results results;
};

TEST_F(CellsTable, TheTerminalsHasPublishedFiguresBesideOurs) {
  const std::string text = print("all", "terminal");
  EXPECT_EQ(text, print("", "terminal"));
  EXPECT_TRUE(contains(text, "75 [30, 95]     80 (a)")) << text;
  EXPECT_TRUE(contains(text, "0.00026 +- 0.00024  3e-05 (a) / 4e-05 (b)")) << text;
  EXPECT_TRUE(contains(text, "Published: (a) Somebody 2020; (b) Another, not comparable: mean\n")) << text;
  EXPECT_TRUE(contains(text, "NAC* | mul | U[1,2): y = x1*x2 (3 of 4 runs)\n")) << text;
  EXPECT_FALSE(contains(text, "before regularisers %")) << "an empty column\n" << text;
  EXPECT_FALSE(contains(text, "not here")) << text;
  EXPECT_FALSE(contains(text, "Not the task's own settings")) << text;
}

TEST_F(CellsTable, OneMetricShowsNothingElse) {
  const std::string success = print("success", "terminal");
  EXPECT_TRUE(contains(success, "3/4")) << success;
  EXPECT_FALSE(contains(success, "+-")) << success;
  const std::string mad = print("mad", "terminal");
  EXPECT_TRUE(contains(mad, "1 +- 0")) << mad;
  EXPECT_FALSE(contains(mad, "3/4")) << mad;
  const std::string trask = print("trask", "terminal");
  EXPECT_TRUE(contains(trask, "0.00325 +- 0.0031")) << trask;  // 100 * 2.6e-4 / 8
  EXPECT_TRUE(contains(trask, "33.3 +- 0")) << trask;
  const std::string before = print("pre-regularisation", "csv");
  EXPECT_TRUE(contains(before, "NAC*,mul,\"U[1,2)\",4,,,,")) << before;
  EXPECT_TRUE(contains(before, "N_2,mul,\"U[1,2)\",4,,,,\n")) << before;
}

TEST_F(CellsTable, EveryMetricBeginsAsBefore) {
  const auto heading = [&](std::string_view metric) { return lines_of(print(metric, "csv")).front(); };
  const std::string success =
      "model,operation,setting,runs,limit,successes,success,success_lo,success_hi,success_published,ever,at_end,"
      "solved_at,solved_at_published";
  const std::string measures =
      ",validation_median,validation_mad,validation_published,test_median,test_mad,test_published";
  const std::string trask = ",trask_median,trask_mad,trask_published",
                    before = ",before_regularisers,before_regularisers_lo,before_regularisers_hi",
                    threshold = ",threshold,threshold_lo,threshold_hi", remarks = ",published_remarks";
  EXPECT_EQ(heading(""), heading("all"));
  EXPECT_EQ(heading("all"), success + measures + trask + before + remarks + threshold);
  EXPECT_EQ(heading("success"), success + remarks);
  EXPECT_EQ(heading("mad"), "model,operation,setting,runs" + measures + remarks);
  EXPECT_EQ(heading("trask"), "model,operation,setting,runs" + trask + remarks);
  EXPECT_EQ(heading("pre-regularisation"), "model,operation,setting,runs" + before + remarks);
  EXPECT_EQ(heading("threshold"), success + remarks + threshold);
  for (const Metric& metric : metrics()) expect_even(print(metric.name, "csv"));
}

TEST_F(CellsTable, AThresholdCountsRunsBelowIt) {
  results.judgement.criterion = {Criterion::Kind::Limit, 1e-5, 1e-4};
  summarise_again();
  const std::string text = print("threshold", "csv");
  const Estimate half = wilson(2, 4);
  EXPECT_TRUE(contains(text, "\nNAC*,mul,\"U[1,2)\",4,0.0001,2,0.5,")) << text;
  EXPECT_TRUE(contains(text, fmt::format(",0.5,{},{}\n", half.lo, half.hi))) << text;
  EXPECT_TRUE(contains(print("threshold", "terminal"), "below 0.0001 %")) << print("threshold", "terminal");
  EXPECT_TRUE(contains(print("threshold", "terminal"), "Solved: the judged measure within 0.0001"))
      << print("threshold", "terminal");
}

// An accuracy has to be above the limit.
TEST_F(CellsTable, AThresholdCountsAccuraciesAboveIt) {
  results.cells[0].goal.above = results.cells[1].goal.above = true;
  results.judgement.criterion = {Criterion::Kind::Limit, 1e-5, 1e-4};
  summarise_again();
  const std::string text = print("threshold", "csv");
  EXPECT_TRUE(contains(text, "\nNAC*,mul,\"U[1,2)\",4,0.0001,2,0.5,")) << text;
  EXPECT_TRUE(contains(text, "\nN_2,mul,\"U[1,2)\",4,0.0001,4,1,")) << text;
}

TEST_F(CellsTable, CsvHasEveryNumber) {
  const std::string text = print("all", "csv");
  EXPECT_TRUE(contains(text, "\nNAC*,mul,\"U[1,2)\",4,0.001,3,0.75,")) << text;
  EXPECT_EQ(cells_of(lines_of(text)[1])[19], "3e-05;4e-05") << text;
  EXPECT_TRUE(contains(text, ",\"Somebody 2020; Another, not comparable: mean\",")) << text;
  EXPECT_TRUE(contains(print("success", "csv"), ",\"Somebody 2020; Another, not comparable: mean\"\n"));
  EXPECT_EQ(lines_of(text).size(), 3u);
}

TEST_F(CellsTable, ACellWithoutAGoalHasNoRate) {
  results.cells[1].goal = {};
  summarise_again();
  EXPECT_FALSE(contains(print("all", "terminal"), "0/4"));
  EXPECT_TRUE(contains(print("success", "csv"), "\nN_2,mul,\"U[1,2)\",4,,,,,,,,,,,\n")) << print("success", "csv");
  EXPECT_TRUE(nlohmann::json::parse(print("all", "json"))["cells"][1]["goal"].is_null());
  EXPECT_EQ(describe_goal(results), "test below 0.001 at the row with the smallest validation");
  results.cells[0].goal = {};
  summarise_again();
  EXPECT_FALSE(contains(print("all", "terminal"), "Solved")) << "nothing is judged";
}

TEST_F(CellsTable, MarkdownAndLatexEscapeNames) {
  const std::string markdown = print("all", "markdown");
  EXPECT_TRUE(contains(markdown, "### By hand (hand-made, preset full)\n")) << markdown;
  EXPECT_TRUE(contains(markdown, "| NAC\\* | mul | U[1,2) | 3/4 |")) << markdown;
  EXPECT_TRUE(contains(markdown, "0.00026 ± 0.00024")) << markdown;
  const std::string latex = print("all", "latex");
  EXPECT_TRUE(contains(latex, "N\\_2 & mul")) << latex;
  EXPECT_TRUE(contains(latex, "$\\pm$")) << latex;
  EXPECT_TRUE(contains(latex, "80 (a)")) << latex;
  expect_balanced(latex);
}

TEST_F(CellsTable, JsonHasEveryRun) {
  const nlohmann::json all = nlohmann::json::parse(print("success", "json"));
  ASSERT_EQ(all["cells"].size(), 2u);
  const nlohmann::json& cell = all["cells"][0];
  EXPECT_EQ(cell["model"], "NAC*");
  EXPECT_EQ(cell["setting"], "U[1,2)");
  EXPECT_EQ(cell["successes"], 3);
  EXPECT_EQ(cell["published"].size(), 3u);
  EXPECT_EQ(cell["published"][2]["value"], 4e-5);
  EXPECT_EQ(cell["goal"]["below"], 1e-3);
  ASSERT_EQ(cell["seeds"].size(), 4u);
  EXPECT_EQ(cell["seeds"][3]["values"]["test"], 4);
  EXPECT_EQ(cell["seeds"][0]["note"], "y = x1*x2");
}

TEST_F(CellsTable, AChangedRecipeIsMentioned) {
  results.info.plan.recipe = changed_recipe;
  for (const char* format : {"terminal", "markdown"})
    EXPECT_TRUE(
        contains(print("all", format), "not comparable with what was published: --recipe '{\"clip_norm\": 1}'."))
        << print("all", format);
  const std::string latex = print("all", "latex");
  EXPECT_TRUE(contains(latex, "not comparable with what was published: --recipe '\\{\"clip\\_norm\": 1\\}'.")) << latex;
  expect_balanced(latex);
}

// ---- runs ----------------------------------------------------------------------------------------------------------

// Where every run is a search of its own, a line is a run, with the columns that the task says.
TEST(RunsTable, HasALinePerRun) {
  const std::vector<TaskPreset> presets = {{"full", "", 4, ""}};
  const Task searches{.name = "searches",
                      .title = "Searches",
                      .source = "",
                      .settings = "",
                      .presets = presets,
                      .setting_word = "noise",
                      .layout = Task::Layout::Runs};
  Results results;
  results.info.plan.task = &searches;
  results.info.plan.preset = "full";
  Cell cell;
  cell.model = "fit", cell.operation = "I.6.2", cell.setting = "noise 0";
  cell.measures = {{"solved", Measure::Kind::Other, 0}};
  cell.goal = {"solved", "", 0.5, true, {}};
  results.cells = {cell};
  std::vector<RunResult> runs;
  for (std::uint32_t seed = 0; seed < 2; ++seed) {
    RunRecord record{{0}, {{seed == 0 ? 1.0 : 0.0}}, {}, seed == 0 ? "y = a, b" : "y = 1", {}};
    record.facts = {
        {"formula", "I.6.2"}, {"seconds", ""}, {"verdict", seed == 0 ? "exact" : "wrong"}, {"y", record.note}};
    runs.push_back(*judge(results.cells[0], record, seed));
    runs.back().seconds = 1.25 + seed;
  }
  results.results = {summarise(results.cells[0], runs)};
  EXPECT_EQ(print_table(results, "", "csv"),
            "formula,seconds,verdict,y\nI.6.2,1.250,exact,\"y = a, b\"\nI.6.2,2.250,wrong,y = 1\n");
  const std::string text = print_table(results, "", "terminal");
  EXPECT_TRUE(contains(text, "exact")) << text;
  EXPECT_TRUE(contains(text, "y = a, b")) << text;
  EXPECT_TRUE(contains(text, "noise 0     1/2")) << text;
  EXPECT_TRUE(contains(print_table(results, "success", "csv"), "fit,I.6.2,noise 0,2,0.5,1,0.5,"))
      << print_table(results, "success", "csv");
}

// ---- the series ----------------------------------------------------------------------------------------------------

class SeriesFile : public testing::Test {
 protected:
  // A store with one run of its first cell.
  Store store_of(const Plan& plan, const RunRecord& record) {
    Result<Store> store = Store::create((folder_ / "store").string(), {plan, "", "", "", "", 1, 0});
    EXPECT_TRUE(store.ok()) << complaint(store);
    const Status added = store->add({{{{0, plan.seeds.front()}, record, 0}}, {}}, 0);
    EXPECT_TRUE(added.ok()) << complaint(added);
    return std::move(*store);
  }
  std::vector<std::string> lines_in(const Store& store) {
    const std::string path = (folder_ / "series.csv").string();
    const Status written = write_series(store, path);
    EXPECT_TRUE(written.ok()) << complaint(written);
    EXPECT_FALSE(fs::exists(path + ".part"));
    return lines_of(text_of(path));
  }

  test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(SeriesFile, ReadsBackToTheSameBits) {
  const float errors[] = {0.1f,
                          1.0f / 3,
                          16777217.0f,
                          std::numeric_limits<float>::denorm_min(),
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  RunRecord record;
  for (std::size_t k = 0; k < 7; ++k) {
    record.steps.push_back(static_cast<long>(k));
    record.values.push_back({errors[k], errors[6 - k], k == 6 ? none : 0.1 + 0.2 * static_cast<double>(k)});
    record.parameters.push_back({1, 1, 1, 1});
  }
  const std::vector<std::string> lines =
      lines_in(store_of(plan_of("single-module", "primer", "NAC*", "mul", "5", "4294967295"), record));
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0], "module,operation,range,seed,step,validation_mse,test_mse,sparsity_error");
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_TRUE(lines[k + 1].starts_with("NAC*,mul,\"U[0.1,0.2)\",4294967295," + std::to_string(k) + ","))
        << lines[k + 1];
    const std::vector<std::string> cells = cells_of(lines[k + 1]);
    ASSERT_EQ(cells.size(), 8u);
    const auto expect_float = [](const std::string& text, float wanted) {
      const float read = std::strtof(text.c_str(), nullptr);
      EXPECT_TRUE((std::isnan(read) && std::isnan(wanted)) ||
                  std::bit_cast<std::uint32_t>(read) == std::bit_cast<std::uint32_t>(wanted))
          << text << " is not " << wanted;
    };
    expect_float(cells[5], errors[k]);
    expect_float(cells[6], errors[6 - k]);
    const double sparsity = std::strtod(cells[7].c_str(), nullptr), wanted = record.values[k][2];
    EXPECT_TRUE(sparsity == wanted || (std::isnan(sparsity) && std::isnan(wanted))) << cells[7];
  }
  EXPECT_TRUE(contains(lines[1], ",0.1,nan,0.1")) << lines[1];  // the shortest text, and NaN as nan
}

// Cells of other tasks have measures of their own: one line each.
TEST_F(SeriesFile, OtherTasksHaveALinePerMeasure) {
  const Plan plan = plan_of("nsr-comparisons", "quick", "", "<=", "", "3");
  const std::vector<Cell> cells = *cells_of(plan);
  const std::size_t measures = cells.front().measures.size();
  RunRecord record;
  for (const double value : {0.1 + 0.2, 1.0 / 3}) {
    record.steps.push_back(1000 * static_cast<long>(record.rows()));
    record.values.emplace_back(measures, value);
    record.parameters.emplace_back();
  }
  const std::vector<std::string> lines = lines_in(store_of(plan, record));
  ASSERT_EQ(lines.size(), 1 + 2 * measures);
  EXPECT_EQ(lines[0], "model,operation,setting,seed,step,measure,value");
  EXPECT_EQ(lines[1], "NSR,<=,redundancy 10,3,0,accuracy,0.30000000000000004");
  EXPECT_EQ(lines[1 + measures], "NSR,<=,redundancy 10,3,1000,accuracy,0.3333333333333333");
}

// The same measure at seven sizes of the numbers is one column for people, and all of them for programs.
TEST_F(SeriesFile, MeasuresAtManySizesAreOneColumn) {
  const Plan plan = plan_of("nsr-comparisons", "quick", "", "<=", "", "3");
  const std::vector<Measure> measures = cells_of(plan)->front().measures;
  RunRecord record;
  record.steps = {0};
  record.values.emplace_back();
  for (const Measure& measure : measures) record.values.back().push_back(measure.name == "mae at 1e14" ? 33 : 0.5);
  record.parameters.emplace_back();
  const Result<Results> results = judge_store(store_of(plan, record), {});
  ASSERT_TRUE(results.ok()) << results.error().message;
  const std::string text = print_table(*results, "mad", "terminal"), csv = print_table(*results, "mad", "csv");
  EXPECT_TRUE(contains(text, "mae at 1e1 to 1e14")) << text;
  EXPECT_TRUE(contains(text, "0.5 to 33")) << text;
  EXPECT_FALSE(contains(text, "mae at 1e7")) << text;
  EXPECT_TRUE(contains(csv, "mae at 1e7_median")) << csv;
}

// Operations such as <= and >= have names of figures that differ in letters, too.
TEST_F(SeriesFile, EveryFigureHasAFileOfItsOwn) {
  const Plan plan = plan_of("nsr-comparisons", "quick", "", "", "", "3");
  const std::vector<Measure> measures = cells_of(plan)->front().measures;
  RunRecord record;
  record.steps = {0};
  record.values.emplace_back(measures.size(), 0.5);
  record.parameters.emplace_back();
  const Result<std::vector<NamedPicture>> pictures = result_figures(store_of(plan, record), {}, 317);
  ASSERT_TRUE(pictures.ok()) << pictures.error().message;
  std::set<std::string> names;
  for (const NamedPicture& picture : *pictures) EXPECT_TRUE(names.insert(picture.name).second) << picture.name;
  EXPECT_TRUE(names.contains("map_less_equal"));
  EXPECT_GT(names.size(), 6u);
}

TEST_F(SeriesFile, AFileThatCannotBeWrittenIsNamed) {
  const Plan plan = plan_of("single-module", "primer", "NMU", "mul", "5", "0");
  const Result<Store> store = Store::create((folder_ / "store").string(), {plan, "", "", "", "", 1, 0});
  ASSERT_TRUE(store.ok());
  for (const std::string& path : {(folder_ / "none" / "series.csv").string(), folder_.string()}) {
    const Status written = write_series(*store, path);
    ASSERT_FALSE(written.ok());
    EXPECT_TRUE(written.error().message.starts_with(path + ": ")) << written.error().message;
  }
}

}  // namespace
}  // namespace nalm::table_test
