// Tables as text: other programs can read them, and they say what the results say.
#include "report/tables.hpp"
#include "words.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace nalm {
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

// Cells of a line, as every reader of CSV takes them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

Cell cell_of(std::string_view module, Operation operation, std::size_t range, const CellSummary& summary) {
  Cell cell;
  cell.pair = {*find_module(module), operation};
  cell.range = paper_ranges()[range];
  cell.threshold = 1.0 / 3;
  cell.summary = summary;
  for (int k = 0; k < summary.runs; ++k) {
    JudgedRun run;
    run.seed = static_cast<std::uint32_t>(k);
    run.result.success = k < summary.successes;
    run.result.best_step = 1000 * k;
    run.result.test_mse = k == 2 ? none : 0.1;
    if (run.result.success) run.result.solved_at = 100 * k;
    if (!run.result.success) run.failure = Failure{Failure::Kind::WrongWeights, "W[2] = -0.98 instead of 1"};
    cell.runs.push_back(run);
  }
  return cell;
}

CellSummary summary_of(int successes, const Estimate& solved_at, const Estimate& sparsity) {
  CellSummary summary;
  summary.runs = 4;
  summary.successes = successes;
  summary.success = wilson(successes, 4);
  summary.solved_at = solved_at;
  summary.sparsity = sparsity;
  summary.median_solved_at = solved_at.value;
  summary.median_sparsity = sparsity.value;
  return summary;
}

// Cells of each kind: none solved, one (which has no interval), some, all.
Results results_of() {
  Results results;
  Grid& grid = results.info.grid;
  const auto pair = [](const char* module, Operation operation) { return Pair{*find_module(module), operation}; };
  grid.pairs = {pair("NAC*", Operation::Multiply), pair("NMU", Operation::Multiply), pair("NAC+", Operation::Add)};
  grid.ranges = {paper_ranges()[0], paper_ranges()[6], paper_ranges()[7]};
  grid.seeds = {0, 1, 2, 3};
  results.info.version = "1.2.3";
  const Estimate nothing{none, none, none};
  const Operation mul = Operation::Multiply;
  results.cells = {
      cell_of("NAC*", mul, 0, summary_of(0, nothing, nothing)),
      cell_of("NAC*", mul, 6, summary_of(1, {48000, none, none}, {1.4e-05, none, none})),
      cell_of("NAC*", mul, 7, summary_of(2, {0.1 + 0.2, 0.1, 1.0 / 3}, {1.2e-05, 1e-05, 1.3e-05})),
      cell_of("NMU", mul, 0, summary_of(4, {2800, 2630, 2960}, {0, 0, 0})),
      cell_of("NMU", mul, 6, summary_of(4, {2900, 2630, 3960}, {0, 0, 1e-9})),
      cell_of("NMU", mul, 7, summary_of(3, {2800, 2700, 2900}, {2e-9, 1e-9, 3e-9})),
      cell_of("NAC+", Operation::Add, 0, summary_of(4, {1000, 900, 1100}, {1e-5, 1e-6, 1e-4})),
      cell_of("NAC+", Operation::Add, 6, summary_of(0, nothing, nothing)),
      cell_of("NAC+", Operation::Add, 7, summary_of(0, nothing, nothing)),
  };
  return results;
}

// ---- CSV -----------------------------------------------------------------------------------------------------------

TEST(CsvTable, HasTheColumnsOfTheReferenceFileAndMore) {
  const std::string reference = lines_of(text_of(NALM_SOURCE_DIR "/data/primer_single_module.csv")).front();
  EXPECT_EQ(lines_of(print_table(results_of(), TableFormat::Csv)).front(),
            reference + ",runs,successes,ever,at_end,published");
}

TEST(CsvTable, ReadsBackToTheSameNumbers) {
  const Results results = results_of();
  const std::vector<std::string> lines = lines_of(print_table(results, TableFormat::Csv));
  ASSERT_EQ(lines.size(), results.cells.size() + 1);
  for (std::size_t k = 0; k < results.cells.size(); ++k) {
    const Cell& cell = results.cells[k];
    const std::vector<std::string> cells = cells_of(lines[k + 1]);
    ASSERT_EQ(cells.size(), 17u) << lines[k + 1];
    EXPECT_EQ(cells[0], cell.pair.module->name);
    EXPECT_EQ(cells[1], name_of(cell.pair.operation));
    EXPECT_EQ(cells[2], name_of(cell.range.train));
    const CellSummary& s = cell.summary;
    const double wanted[] = {s.success.value, s.success.lo,     s.success.hi,  s.solved_at.value, s.solved_at.lo,
                             s.solved_at.hi,  s.sparsity.value, s.sparsity.lo, s.sparsity.hi};
    for (std::size_t c = 0; c < 9; ++c) {
      const std::string& text = cells[3 + c];
      if (std::isnan(wanted[c])) {
        EXPECT_EQ(text, "");
      } else {
        EXPECT_EQ(std::strtod(text.c_str(), nullptr), wanted[c]) << text;
      }
    }
    EXPECT_EQ(cells[12], "4");
    EXPECT_EQ(cells[13], std::to_string(s.successes));
    EXPECT_EQ(cells[14], s.ever ? std::to_string(*s.ever) : "");
    EXPECT_EQ(cells[15], s.at_end ? std::to_string(*s.at_end) : "");
  }
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

TEST(JsonTable, HasEveryCellAndEveryRun) {
  const Results results = results_of();
  const nlohmann::json json = nlohmann::json::parse(print_table(results, TableFormat::Json));
  EXPECT_EQ(json["version"], "1.2.3");
  EXPECT_EQ(json["intervals"], "honest");
  ASSERT_EQ(json["cells"].size(), results.cells.size());
  for (std::size_t k = 0; k < results.cells.size(); ++k) {
    const nlohmann::json& cell = json["cells"][k];
    const Cell& wanted = results.cells[k];
    EXPECT_EQ(cell["module"], wanted.pair.module->name);
    EXPECT_EQ(cell["operation"], name_of(wanted.pair.operation));
    EXPECT_EQ(cell["range"], name_of(wanted.range.train));
    EXPECT_EQ(cell["test_range"], name_of(wanted.range.test));
    EXPECT_EQ(cell["successes"], wanted.summary.successes);
    EXPECT_EQ(cell["threshold"], 1.0 / 3);
    EXPECT_EQ(cell["solved_at"]["value"].is_null(), std::isnan(wanted.summary.solved_at.value));
    EXPECT_EQ(cell["solved_at"]["lo"].is_null(), std::isnan(wanted.summary.solved_at.lo));
    if (!std::isnan(wanted.summary.solved_at.value)) {
      EXPECT_EQ(cell["solved_at"]["value"], wanted.summary.solved_at.value);
    }
    ASSERT_EQ(cell["seeds"].size(), 4u);
    for (std::size_t run = 0; run < 4; ++run) {
      const nlohmann::json& one = cell["seeds"][run];
      const bool success = static_cast<int>(run) < wanted.summary.successes;
      EXPECT_EQ(one["seed"], run);
      EXPECT_EQ(one["success"], success);
      EXPECT_EQ(one["solved_at"].is_null(), !success);
      EXPECT_EQ(one["test_mse"].is_null(), run == 2);
      EXPECT_EQ(one.contains("failure"), !success);
      if (!success) {
        EXPECT_EQ(one["failure"]["detail"], "W[2] = -0.98 instead of 1");
      }
    }
  }
}

// ---- Markdown and terminal -----------------------------------------------------------------------------------------

TEST(MarkdownTable, EveryRowHasTheColumnsOfItsHeading) {
  std::size_t rows = 0;
  for (const std::string& line : lines_of(print_table(results_of(), TableFormat::Markdown))) {
    if (!line.starts_with("|")) continue;
    ++rows;
    EXPECT_EQ(count(line, "|"), 10u) << line;
    EXPECT_TRUE(line.ends_with("|")) << line;
    EXPECT_EQ(count(line, "*"), count(line, "\\*")) << line;
  }
  EXPECT_EQ(rows, 9u + 2 * 2);  // cells, and for each of the two operations a heading and a rule
}

TEST(TerminalTable, ShowsEveryCellInColumns) {
  Results results = results_of();
  const std::string text = print_table(results, TableFormat::Terminal);
  EXPECT_LT(text.find("Addition"), text.find("Multiplication"));
  EXPECT_FALSE(contains(text, "Division"));
  EXPECT_TRUE(contains(text, "\nNMU     U[1,2)      ")) << text;
  EXPECT_TRUE(contains(text, "1/4")) << text;
  EXPECT_TRUE(contains(text, "2800 [2630, 2960]")) << text;
  EXPECT_FALSE(contains(text, "nan")) << text;
  EXPECT_FALSE(contains(text, "missing")) << text;
  for (const std::string& line : lines_of(text)) EXPECT_FALSE(line.ends_with(' ')) << line;
  results.missing = 7;
  EXPECT_TRUE(
      contains(print_table(results, TableFormat::Terminal), "7 runs are missing: the benchmark is not finished"));
}

TEST(Overview, CountsSolvedRuns) {
  const std::string text = print_overview(results_of());
  EXPECT_TRUE(contains(text,
                       "Multiplication: runs solved\n"
                       "range       NAC*  NMU\n"
                       "U[-20,-10)   0/4  4/4\n"
                       "U[1,2)       1/4  4/4\n"
                       "U[1.1,1.2)   2/4  3/4\n"))
      << text;
}

// ---- LaTeX ---------------------------------------------------------------------------------------------------------

TEST(LatexTable, IsBalanced) {
  const std::string text = print_table(results_of(), TableFormat::Latex);
  int depth = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (k > 0 && text[k - 1] == '\\') continue;
    depth += (text[k] == '{') - (text[k] == '}');
    ASSERT_GE(depth, 0) << text.substr(0, k);
  }
  EXPECT_EQ(depth, 0);
  for (const char* name : {"table", "tabular"}) {
    EXPECT_EQ(count(text, std::string("\\begin{") + name + "}"), 2u);
    EXPECT_EQ(count(text, std::string("\\end{") + name + "}"), 2u);
  }
  std::size_t rows = 0;
  bool first = true;
  for (const std::string& line : lines_of(text)) {
    // A bare per cent sign would swallow the rest of its line; only the first line means that.
    if (!first) {
      EXPECT_EQ(count(line, "%"), count(line, "\\%")) << line;
    }
    first = false;
    EXPECT_EQ(count(line, "$") % 2, 0u) << line;
    if (!line.ends_with("\\\\")) continue;
    ++rows;
    EXPECT_EQ(count(line, "&"), 4u) << line;
  }
  EXPECT_EQ(rows, 9u + 2);
}

// The row of a range in the part of a module; the module's name stands in its first row only.
std::string latex_row(const std::string& text, const std::string& module, const std::string& range) {
  const std::size_t part = text.find("\n" + module + " & ");
  if (part == text.npos) return "no " + module;
  const std::size_t row = text.find("& " + range + " &", part);
  return text.substr(row, text.find('\n', row) - row);
}

TEST(LatexTable, TheBestOfAModuleIsBoldTiesIncluded) {
  const std::string text = print_table(results_of(), TableFormat::Latex);
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
  Results results = results_of();
  results.cells = {
      cell_of("NMU", Operation::Multiply, 6, summary_of(4, {9960, 9000, 10920}, {9.99e-6, 1e-6, 1.999e-5}))};
  const std::string text = print_table(results, TableFormat::Latex);
  EXPECT_FALSE(contains(text, "10.0 \\cdot")) << text;
  EXPECT_TRUE(contains(text, "1.0 \\cdot 10^{4}")) << text;
  EXPECT_TRUE(contains(text, "1.0 \\cdot 10^{-5}")) << text;
}

// ---- the series ----------------------------------------------------------------------------------------------------

class SeriesFile : public testing::Test {
 protected:
  SeriesFile() {
    std::string pattern = (fs::temp_directory_path() / "nalm-series-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SeriesFile() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(SeriesFile, ReadsBackToTheSameBits) {
  Grid grid;
  grid.pairs = {{*find_module("NAC*"), Operation::Multiply}};
  grid.ranges = {paper_ranges()[5]};
  grid.seeds = {4294967295u};
  const float errors[] = {0.1f,
                          1.0f / 3,
                          16777217.0f,
                          std::numeric_limits<float>::denorm_min(),
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  FinishedRuns finished;
  nalm::Run run{runs_of(grid).front(), resolve_recipe(grid, grid.pairs[0]), {}};
  for (std::size_t k = 0; k < 7; ++k) {
    run.series.steps.push_back(static_cast<long>(k));
    run.series.validation_mse.push_back(errors[k]);
    run.series.test_mse.push_back(errors[6 - k]);
    run.series.sparsity_error.push_back(k == 6 ? none : 0.1 + 0.2 * static_cast<double>(k));
    run.series.parameters.insert(run.series.parameters.end(), 4, 1.0f);
  }
  finished.runs = {run};
  finished.seconds = {0};
  Result<RunStore> store = RunStore::create((folder_ / "store").string(), {grid, "", "", "", "", 1, 0, {}});
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE(store->add(finished, 0).ok());
  const std::string path = (folder_ / "series.csv").string();
  ASSERT_TRUE(write_series(*store, path).ok());
  EXPECT_FALSE(fs::exists(path + ".part"));

  const std::vector<std::string> lines = lines_of(text_of(path));
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
    const double sparsity = std::strtod(cells[7].c_str(), nullptr), wanted = run.series.sparsity_error[k];
    EXPECT_TRUE(sparsity == wanted || (std::isnan(sparsity) && std::isnan(wanted))) << cells[7];
  }
  EXPECT_TRUE(contains(lines[1], ",0.1,nan,0.1")) << lines[1];  // the shortest text, and NaN as nan
}

TEST_F(SeriesFile, AFileThatCannotBeWrittenIsNamed) {
  Grid grid;
  grid.pairs = {{*find_module("NMU"), Operation::Multiply}};
  grid.ranges = {paper_ranges()[5]};
  grid.seeds = {0};
  const Result<RunStore> store = RunStore::create((folder_ / "store").string(), {grid, "", "", "", "", 1, 0, {}});
  ASSERT_TRUE(store.ok());
  for (const std::string& path : {(folder_ / "none" / "series.csv").string(), folder_.string()}) {
    const Status written = write_series(*store, path);
    ASSERT_FALSE(written.ok());
    EXPECT_TRUE(written.error().message.starts_with(path + ": ")) << written.error().message;
  }
}

}  // namespace
}  // namespace nalm
