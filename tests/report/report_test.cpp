// Pages that are whole: the data in them can be read, cannot end the page early, and are those of the store.
#include "report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/by_hand.hpp"
#include "page_data.hpp"
#include "report/curve_codes.hpp"
#include "report/figures.hpp"
#include "report/page.hpp"
#include "sanitized.hpp"

namespace nalm::report_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string hostile_command = "nalm bench </script><!-- & \"quoted\"";

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

// The rows of a cell's runs, one after the other.
struct DecodedRow {
  long step;
  std::vector<std::int16_t> codes;
};
std::vector<DecodedRow> rows_of(const json& cell) {
  const std::vector<std::int16_t> numbers = numbers_of(cell["curves"]);
  const std::size_t width = 2 + cell["measures"].size();
  EXPECT_EQ(numbers.size() % width, 0u);
  std::vector<DecodedRow> rows;
  for (std::size_t at = 0; at + width <= numbers.size(); at += width) {
    const auto half = [&](std::size_t k) { return static_cast<long>(static_cast<std::uint16_t>(numbers[at + k])); };
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(at);
    rows.push_back({half(0) + (half(1) << 16), {first + 2, first + static_cast<std::ptrdiff_t>(width)}});
  }
  return rows;
}

// A store in a folder of its own, of plan_.
class StoreOfPlan : public testing::Test {
 protected:
  void make_store() {
    Result<Store> store = Store::create((folder_ / "store").string(),
                                        {plan_, hostile_command, "1.2.3", "scalar", "2026-01-02T03:04:05Z", 2, 0});
    ASSERT_TRUE(store.ok()) << complaint(store);
    store_.emplace(std::move(*store));
  }
  void add(std::size_t cell, std::uint32_t seed, RunRecord record) {
    record.parameters.resize(record.rows());
    const Status added = store_->add({{{{cell, seed}, std::move(record), 1}}, {}}, 1);
    ASSERT_TRUE(added.ok()) << complaint(added);
  }
  json data(const Judgement& judgement = {}) const {
    const Result<std::string> text = report_data(*store_, judgement);
    EXPECT_TRUE(text.ok()) << complaint(text);
    return text ? json::parse(*text) : json();
  }
  std::string page() const {
    const Result<std::string> text = report_page(*store_);
    EXPECT_TRUE(text.ok()) << complaint(text);
    return text ? *text : "";
  }

  test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  Plan plan_;
  std::optional<Store> store_;
};

// ---- the grid of the single module task ----------------------------------------------------------------------------

// Two pairs on two ranges with two seeds; of the last cell one run is missing. Errors fall tenfold from row to row.
class Report : public StoreOfPlan {
 protected:
  Report() {
    plan_ = plan_of("single-module", "primer", "NAU,NMU", "sub,mul", "6,[3,4)", "0,1");
    plan_.options["test-range"] = "[5,6)";
  }
  void fill() {
    make_store();
    ASSERT_EQ(store_->cells().size(), 4u);
    for (std::size_t cell = 0; cell < 4; ++cell) {
      for (std::uint32_t seed = 0; seed < (cell == 3 ? 1u : 2u); ++seed) {
        RunRecord record;
        for (int r = 0; r < rows; ++r) {
          record.steps.push_back(1000 * r);
          record.values.push_back({static_cast<float>(std::pow(10.0, -r)),
                                   r == 1 ? 0 : static_cast<float>(std::pow(10.0, 1 - 3 * r)),
                                   r == 2 ? std::nan("") : 0.25});
          record.parameters.push_back({1, seed ? -1 : static_cast<double>(0.3f)});
        }
        add(cell, seed, record);
      }
    }
  }

  static constexpr int rows = 5;
};

TEST_F(Report, ItsDataAreThoseOfTheStore) {
  fill();
  const json all = data();
  EXPECT_EQ(all["task"], "single-module");
  EXPECT_EQ(all["layout"], "grid");
  EXPECT_EQ(all["words"], (json{{"model", "module"}, {"setting", "range"}}));
  EXPECT_EQ(all["operations"], (json{"sub", "mul"}));
  EXPECT_EQ(all["models"], (json{"NAU", "NMU"}));
  EXPECT_EQ(all["settings"], (json{"U[1,2)", "U[3,4)"}));
  EXPECT_EQ(all["intervals"], "honest");
  EXPECT_EQ(all["created"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(all["missing"], 1);
  EXPECT_EQ(all["changes"], json::array());
  ASSERT_EQ(all["tables"].size(), 2u);  // one per operation
  EXPECT_EQ(all["tables"][0]["title"], "sub");
  EXPECT_EQ(all["tables"][0]["rows"].size(), 2u);
  ASSERT_EQ(all["cells"].size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    const json& cell = all["cells"][k];
    SCOPED_TRACE(cell["model"].get<std::string>() + " " + cell["setting"].get<std::string>());
    const std::size_t runs = k == 3 ? 1 : 2;
    EXPECT_EQ(cell["model"], k < 2 ? "NAU" : "NMU");
    EXPECT_EQ(cell["setting"], k % 2 ? "U[3,4)" : "U[1,2)");
    EXPECT_EQ(cell["runs"], runs);
    ASSERT_EQ(cell["seeds"].size(), runs);
    // The paper has no [3,4).
    EXPECT_EQ(cell["published"].empty(), k % 2 == 1);
    const std::vector<DecodedRow> curves = rows_of(cell);
    ASSERT_EQ(curves.size(), rows * runs);
    for (std::size_t row = 0; row < curves.size(); ++row) {
      const int r = static_cast<int>(row % rows);
      EXPECT_EQ(curves[row].step, 1000 * r);
      EXPECT_EQ(curves[row].codes[0], -1000 * r);
      EXPECT_EQ(curves[row].codes[1], r == 1 ? -32767 : 1000 - 3000 * r);  // 0 has no logarithm
      EXPECT_EQ(curves[row].codes[2], r == 2 ? -32768 : -602);             // nor has NaN
    }
    // The best row is the last; its test error of 1e-11 is below every threshold here.
    EXPECT_EQ(cell["successes"], runs);
    EXPECT_EQ(cell["failures"], json::object());
    for (const json& run : cell["seeds"]) {
      EXPECT_EQ(run["judged_at"], 4000);
      EXPECT_EQ(run["judged"], 4);
    }
  }
}

TEST_F(Report, CountsFailures) {
  fill();
  Judgement judgement;
  judgement.criterion.kind = Criterion::Kind::Epsilon;
  judgement.criterion.epsilon = 1e-9;
  judgement.paper_intervals = true;
  const json all = data(judgement);
  EXPECT_EQ(all["intervals"], "paper");
  int failures = 0;
  for (const json& cell : all["cells"]) {
    EXPECT_EQ(cell["successes"], 0);
    EXPECT_TRUE(cell["solved_at"].is_null());
    for (const json& kind : cell["failures"]) failures += kind.get<int>();
    for (const json& run : cell["seeds"]) EXPECT_TRUE(run["failure"].is_string());
    // What was published is about another criterion.
    for (const json& figure : cell["published"]) EXPECT_TRUE(figure["agrees"].is_null());
  }
  EXPECT_EQ(failures, 7);
  EXPECT_TRUE(all["comparison"]["agrees"].is_null());
  EXPECT_TRUE(contains(all["comparison"]["words"].get<std::string>(), "another criterion")) << all["comparison"];
}

// Both seeds solved U[1,2), as all of the survey's did.
TEST_F(Report, ComparesAsTheProgramDoes) {
  fill();
  const json all = data();
  EXPECT_EQ(all["comparison"]["agrees"], true) << all["comparison"];
  EXPECT_TRUE(contains(all["comparison"]["words"].get<std::string>(), "2 of 2 published success rates agree"))
      << all["comparison"];
  for (const json& figure : all["cells"][0]["published"])
    if (figure["what"] == "success") {
      EXPECT_EQ(figure["agrees"], true);
    }
}

// What `nalm compare` refuses to judge agrees with nothing.
TEST_F(Report, ClaimsNoAgreementOfAChangedRecipe) {
  plan_.recipe = R"({"clip_norm": 1})";
  fill();
  const json all = data();
  EXPECT_TRUE(all["comparison"]["agrees"].is_null());
  const std::string words = all["comparison"]["words"];
  EXPECT_TRUE(contains(words, R"(--recipe '{"clip_norm": 1}')")) << words;
  EXPECT_FALSE(contains(words, "It agrees")) << words;
  for (const json& cell : all["cells"])
    for (const json& figure : cell["published"]) EXPECT_TRUE(figure["agrees"].is_null()) << figure;
  EXPECT_EQ(all["changes"].size(), 1u);
  const std::string notes = all["tables"].back()["notes"].dump();
  EXPECT_TRUE(contains(notes, "not comparable with what was published")) << notes;
  const auto is_change = [](const json& fact) { return fact[0] == "Not the task's own"; };
  EXPECT_EQ(std::count_if(all["facts"].begin(), all["facts"].end(), is_change), 1) << all["facts"];
}

TEST_F(Report, NothingInItsDataEndsThePage) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  fill();
  const std::string text = page(), read = data_text(text);
  EXPECT_FALSE(contains(read, "<"));
  EXPECT_EQ(json::parse(read)["command"], hostile_command);
  EXPECT_EQ(json::parse(read), data());
  // Every script that begins ends, and none in between: neither in the data nor in the library.
  EXPECT_EQ(count(text, "<script"), count(text, "</script"));
  EXPECT_TRUE(text.ends_with("</html>\n") || text.ends_with("</html>")) << text.substr(text.size() - 100);
  for (const char* mark :
       {"/*NALM_DATA*/", "/*NALM_STYLE*/", "/*NALM_LIBRARY*/", "/*NALM_SCRIPT*/", "<title>NALM_TITLE"})
    EXPECT_FALSE(contains(text, mark)) << mark;
}

TEST_F(Report, FetchesNothing) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  fill();
  const std::string text = page();
  for (const char* part : {"<script src", "<link rel=\"stylesheet\"", "@import", "<img src=\"http"})
    EXPECT_FALSE(contains(text, part)) << part;
}

TEST(Page, EscapesTitleAndData) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  const Result<std::string> page = make_page("a < b & c", assets::page_figure, R"({"x":"</script>/*NALM_SCRIPT*/"})");
  ASSERT_TRUE(page.ok());
  EXPECT_TRUE(contains(*page, "<title>a &lt; b &amp; c</title>"));
  EXPECT_EQ(json::parse(data_text(*page))["x"], "</script>/*NALM_SCRIPT*/");
}

// ---- the cells of another task -------------------------------------------------------------------------------------

// Two relations with three seeds, of which the last has no run for the second one.
class TaskReport : public StoreOfPlan {
 protected:
  TaskReport() { plan_ = plan_of("nsr-comparisons", "quick", "", "<=,=", "", "0..2"); }

  // Accuracy 0 to 1, every other measure falls from 10 by a factor of ten every hundred rows.
  RunRecord record(std::size_t cell, long rows) const {
    RunRecord run;
    for (long r = 0; r < rows; ++r) {
      run.steps.push_back(70000 * r);  // more than 16 bits
      run.values.emplace_back(store_->cells()[cell].measures.size(), std::pow(10.0, 1 - static_cast<double>(r) / 100));
      run.values.back()[0] = static_cast<double>(r) / static_cast<double>(rows - 1);
    }
    run.note = "a <= b & \"c\"";
    return run;
  }
};

TEST_F(TaskReport, ItsDataAreThoseOfTheStore) {
  make_store();
  for (std::uint32_t seed = 0; seed < 3; ++seed) add(0, seed, record(0, 11));
  RunRecord unsolved = record(1, 11);
  unsolved.values.back()[0] = 0.5;
  unsolved.values.back()[1] = std::nan("");
  add(1, 0, record(1, 11));
  add(1, 1, unsolved);
  const json page = data();
  EXPECT_EQ(page["task"], "nsr-comparisons");
  EXPECT_EQ(page["layout"], "cells");
  EXPECT_EQ(page["missing"], 1);
  EXPECT_EQ(page["goal"], "accuracy above 0.9999 at the last row");
  EXPECT_EQ(page["measures"][0], (json{{"name", "accuracy"}, {"share", true}}));
  ASSERT_EQ(page["cells"].size(), 2u);
  EXPECT_EQ(page["tables"][0]["rows"].size(), 2u);
  const json &first = page["cells"][0], &second = page["cells"][1];
  EXPECT_EQ(first["operation"], "<=");
  EXPECT_EQ(first["runs"], 3);
  EXPECT_EQ(first["successes"], 3);
  EXPECT_EQ(second["runs"], 2);
  EXPECT_EQ(second["successes"], 1);
  EXPECT_TRUE(second["goal"]["above"].get<bool>());
  EXPECT_TRUE(second["regularised_from"].is_null());
  EXPECT_EQ(first["measures"][0]["median"], 1);
  EXPECT_EQ(first["measures"][1]["median"], 7.943);  // 10^0.9
  ASSERT_EQ(second["seeds"].size(), 2u);
  const json& run = second["seeds"][1];
  EXPECT_EQ(run["rows"], 11);
  EXPECT_EQ(run["judged"], 10);
  EXPECT_EQ(run["judged_at"], 700000);
  EXPECT_EQ(run["values"][0], 0.5);
  EXPECT_TRUE(run["values"][1].is_null());
  EXPECT_EQ(run["note"], "a <= b & \"c\"");
  // Shares on a linear scale, errors on a logarithmic one.
  EXPECT_EQ(second["measures"][0]["span"], (json{0, 1}));
  EXPECT_TRUE(second["measures"][1]["span"].is_null());
  const std::vector<DecodedRow> rows = rows_of(second);
  ASSERT_EQ(rows.size(), 22u);
  for (std::size_t k = 0; k < 22; ++k) {
    const long r = static_cast<long>(k % 11);
    EXPECT_EQ(rows[k].step, 70000 * r);
    EXPECT_EQ(rows[k].codes[0], k == 21 ? 0 : share_of_span(static_cast<double>(r) / 10, 0, 1));
    EXPECT_EQ(rows[k].codes[1], k == 21 ? -32768 : 1000 - 10 * r);
  }
}

TEST_F(TaskReport, ThinningKeepsTheFirstTheLastAndTheJudgedRow) {
  // Judged where the validation error is smallest.
  plan_ = plan_of("arithmetic-dataset", "full", "nau", "", "", "0..2");
  make_store();
  const long lasts[] = {4999, 200, 199}, judged[] = {3333, 7, 199};
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    RunRecord run = record(0, lasts[seed] + 1);
    for (std::vector<double>& row : run.values) row[0] = 1;
    run.values[static_cast<std::size_t>(judged[seed])][0] = 1e-3;
    add(0, seed, run);
  }
  const json cell = data()["cells"][0];
  EXPECT_FALSE(cell["regularised_from"].is_null());
  const std::vector<DecodedRow> rows = rows_of(cell);
  std::size_t at = 0;
  for (std::size_t run = 0; run < 3; ++run) {
    SCOPED_TRACE(run);
    const json& seed = cell["seeds"][run];
    const std::size_t count = seed["rows"];
    EXPECT_LE(count, 200u);
    EXPECT_GE(count, 199u);
    ASSERT_LE(at + count, rows.size());
    EXPECT_EQ(rows[at].step, 0);
    EXPECT_EQ(rows[at + count - 1].step, 70000 * lasts[run]);
    EXPECT_EQ(seed["judged_at"], 70000 * judged[run]);
    const DecodedRow& row = rows[at + seed["judged"].get<std::size_t>()];
    EXPECT_EQ(row.step, 70000 * judged[run]);
    EXPECT_EQ(row.codes[0], -3000);
    for (std::size_t k = at + 1; k < at + count; ++k) EXPECT_LT(rows[k - 1].step, rows[k].step);
    at += count;
  }
  EXPECT_EQ(at, rows.size());
}

TEST_F(TaskReport, NegativeValuesHaveASpan) {
  make_store();
  RunRecord run = record(0, 3);
  run.values[0][1] = -2, run.values[1][1] = 0, run.values[2][1] = 2;
  add(0, 0, run);
  const json cell = data()["cells"][0];
  EXPECT_EQ(cell["measures"][1]["span"], (json{-2, 2}));
  const std::vector<DecodedRow> rows = rows_of(cell);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].codes[1], -32766);
  EXPECT_EQ(rows[1].codes[1], 0);
  EXPECT_EQ(rows[2].codes[1], 32766);
}

TEST(CurveCodes, KnowWhatIsNoNumber) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(thousandths_of_decades(nan), -32768);
  EXPECT_EQ(thousandths_of_decades(0), -32767);
  EXPECT_EQ(thousandths_of_decades(1e-300), -32766);
  EXPECT_EQ(thousandths_of_decades(infinity), 32767);
  EXPECT_EQ(share_of_span(nan, 0, 1), -32768);
  EXPECT_EQ(share_of_span(-infinity, 0, 1), -32768);
  EXPECT_EQ(share_of_span(infinity, 0, 1), 32767);
  EXPECT_EQ(share_of_span(1e308, -1e308, 1e308), 32766);
  EXPECT_EQ(share_of_span(5, 5, 5), -32766);
}

TEST_F(TaskReport, AStoreWithoutRunsHasAPage) {
  make_store();
  const json page = data();
  EXPECT_EQ(page["missing"], 6);
  for (const json& cell : page["cells"]) {
    EXPECT_EQ(cell["runs"], 0);
    EXPECT_EQ(cell["curves"], "");
    EXPECT_TRUE(cell["success"][0].is_null());
    EXPECT_TRUE(cell["measures"][0]["median"].is_null());
  }
}

TEST_F(TaskReport, ClaimsNoAgreementOfAChangedRecipe) {
  plan_ = plan_of("recurrent-arithmetic", "quick", "", "", "", "0");
  for (const bool changed : {false, true}) {
    if (changed) plan_.learning_rate = 0.25;
    store_.reset();
    fs::remove_all(folder_ / "store");
    make_store();
    for (std::size_t cell = 0; cell < store_->cells().size(); ++cell) add(cell, 0, record(cell, 3));
    const json page = data();
    EXPECT_EQ(contains(page["comparison"]["words"].get<std::string>(), "--learning-rate 0.25"), changed)
        << page["comparison"];
    EXPECT_EQ(page["comparison"]["agrees"].is_null(), changed);
    int judged = 0;
    for (const json& cell : page["cells"])
      for (const json& figure : cell["published"]) judged += figure["agrees"].is_null() ? 0 : 1;
    EXPECT_EQ(judged == 0, changed) << judged;
  }
}

TEST_F(TaskReport, NothingInItsDataEndsThePage) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  make_store();
  add(0, 0, record(0, 3));
  const std::string text = data_text(page());
  EXPECT_FALSE(contains(text, "<"));
  const json read = json::parse(text);
  EXPECT_EQ(read["command"], hostile_command);
  EXPECT_EQ(read["cells"][0]["operation"], "<=");
  EXPECT_EQ(read["tables"][0]["rows"][0][1], "<=");
}

// ---- stores side by side -------------------------------------------------------------------------------------------

TEST(ComparisonPage, HasEveryCellOfEveryFolder) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  const Plan plan = plan_of("single-module", "primer", "NAU", "add", "6,7", "0..24");
  std::vector<Results> results;
  for (const int successes : {5, 25, 5}) {
    results.push_back(results_of(plan));
    for (std::size_t c = 0; c < 2; ++c) set_successes(results.back(), c, successes, 25);
  }
  const std::vector<StoreComparison> comparisons{*compare_stores(results[0], results[1]),
                                                 *compare_stores(results[0], results[2])};
  const std::vector<std::string> names{"a", "b </script>", "c"};
  const Result<std::string> page = comparison_page(comparisons, names);
  ASSERT_TRUE(page.ok()) << complaint(page);
  EXPECT_FALSE(contains(data_text(*page), "<"));
  const json read = json::parse(data_text(*page));
  EXPECT_EQ(read["names"], json(names));
  EXPECT_EQ(read["commands"].size(), 3u);
  ASSERT_EQ(read["others"].size(), 2u);
  EXPECT_EQ(read["others"][0]["name"], "b </script>");
  EXPECT_EQ(read["others"][0]["differing"], 2);
  EXPECT_EQ(read["others"][1]["differing"], 0);
  for (std::size_t k = 0; k < 2; ++k) {
    ASSERT_EQ(read["others"][k]["cells"].size(), 2u);
    const json& cell = read["others"][k]["cells"][0];
    EXPECT_EQ(cell["model"], "NAU");
    EXPECT_EQ(cell["first"][0], 0.2);
    EXPECT_EQ(cell["other"][0], k == 0 ? 1 : 0.2);
    EXPECT_EQ(cell["paired"], true);
    EXPECT_EQ(cell["differs"], k == 0);
    EXPECT_EQ(cell["difference"][0], k == 0 ? 0.8 : 0);
  }
}

// ---- the explanatory figures ---------------------------------------------------------------------------------------

// Each is computed once for all tests: some take seconds.
const json& figure(std::string_view name) {
  static std::map<std::string, json, std::less<>> known;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const Result<std::string> text = figure_data(name);
  EXPECT_TRUE(text.ok()) << (text ? "" : text.error().message);
  return known[std::string(name)] = text ? json::parse(*text) : json();
}

// The value of a surface at a point of its grid.
double at(const json& panel, double x, double y) {
  const std::vector<double> xs = panel["x"]["values"], ys = panel["y"]["values"];
  const auto column = std::find(xs.begin(), xs.end(), x) - xs.begin(),
             row = std::find(ys.begin(), ys.end(), y) - ys.begin();
  return panel["values"].at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(column));
}

double at(const json& panel, std::size_t series, double x) {
  const std::vector<double> xs = panel["x"]["values"];
  return panel["series"].at(series)["values"].at(
      static_cast<std::size_t>(std::find(xs.begin(), xs.end(), x) - xs.begin()));
}

TEST(Figures, AreWholeAndFinite) {
  EXPECT_EQ(figures().size(), 6u);
  for (const FigureInfo& info : figures()) {
    SCOPED_TRACE(info.name);
    if (test::sanitized && info.name == "identity") continue;  // trains 136 networks
    const json& data = figure(info.name);
    EXPECT_FALSE(data["title"].get<std::string>().empty());
    EXPECT_FALSE(data["caption"].get<std::string>().empty());
    EXPECT_EQ(data["command"], "nalm figure " + std::string(info.name));
    EXPECT_FALSE(data["panels"].empty());
    for (const json& panel : data["panels"]) {
      const std::size_t across = panel["x"]["values"].size();
      EXPECT_GT(across, 1u);
      if (panel["kind"] == "lines") {
        for (const json& series : panel["series"]) {
          ASSERT_EQ(series["values"].size(), across);
          for (const json& value : series["values"]) ASSERT_TRUE(value.is_number()) << series["name"];
        }
      } else {
        ASSERT_EQ(panel["kind"], "surface");
        ASSERT_EQ(panel["values"].size(), panel["y"]["values"].size());
        for (const json& row : panel["values"]) {
          ASSERT_EQ(row.size(), across);
          for (const json& value : row) ASSERT_TRUE(value.is_number()) << panel["title"];  // null: not finite
        }
      }
    }
    // The page computes it once more.
    if (!has_plotting_library() || (test::sanitized && info.name != "weights")) continue;
    const Result<std::string> page = figure_page(info.name);
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(json::parse(data_text(*page)), data);
  }
}

TEST(Figures, RegularisersHaveTheirKnownValues) {
  const json& panels = figure("regularisers")["panels"];
  ASSERT_EQ(panels.size(), 4u);
  for (const auto& [w, nau] : {std::pair{-1.0, 0.0}, {-0.5, 0.5}, {0.0, 0.0}, {0.5, 0.5}, {1.0, 0.0}})
    EXPECT_EQ(at(panels[0], std::size_t{0}, w), nau) << w;
  for (const auto& [w, nmu] : {std::pair{0.0, 0.0}, {0.25, 0.25}, {0.5, 0.5}, {1.0, 0.0}})
    EXPECT_EQ(at(panels[1], std::size_t{0}, w), nmu) << w;
  EXPECT_EQ(panels[1]["x"]["values"].front(), 0);  // an NMU's weights are between 0 and 1
  EXPECT_EQ(panels[1]["x"]["values"].back(), 1);
  EXPECT_EQ(at(panels[2], std::size_t{0}, 0.0), 20);
  EXPECT_EQ(at(panels[2], std::size_t{0}, -20.0), 0);
  EXPECT_EQ(at(panels[2], std::size_t{0}, 30.0), 0);
  EXPECT_EQ(at(panels[3], std::size_t{0}, 20000.0), 0);
  EXPECT_EQ(at(panels[3], std::size_t{0}, 26000.0), 0.4);
  EXPECT_EQ(at(panels[3], std::size_t{0}, 35000.0), 1);
  EXPECT_EQ(at(panels[3], std::size_t{0}, 50000.0), 1);
}

// No line lies on another, and the colours of all surfaces of a figure have one scale.
TEST(Figures, PanelsCanBeCompared) {
  for (const FigureInfo& info : figures()) {
    if (info.name == "identity") continue;  // trains its networks
    SCOPED_TRACE(info.name);
    const json& panels = figure(info.name)["panels"];
    for (const json& panel : panels) {
      if (panel["kind"] == "surface") {
        EXPECT_TRUE(panel["z"].contains("span"));
        EXPECT_EQ(panel["z"]["span"], panels[0]["z"]["span"]);
        EXPECT_FALSE(panel["marks"].empty());
        continue;
      }
      for (std::size_t a = 0; a < panel["series"].size(); ++a)
        for (std::size_t b = 0; b < a; ++b) EXPECT_NE(panel["series"][a]["values"], panel["series"][b]["values"]);
    }
  }
}

TEST(Figures, WeightsHaveTheirKnownValues) {
  const json& panels = figure("weights")["panels"];
  ASSERT_EQ(panels.size(), 2u);
  for (const json& panel : panels) {
    EXPECT_NEAR(at(panel, 10.0, 10.0), 1, 0.02);
    EXPECT_NEAR(at(panel, -10.0, 10.0), -1, 0.02);
    EXPECT_NEAR(at(panel, 10.0, -10.0), 0, 0.02);
    EXPECT_EQ(at(panel, 0.0, 10.0), 0);
  }
  EXPECT_NEAR(at(panels[0], 1.0, 1.0), std::tanh(1.0) / (1 + std::exp(-1.0)), 1e-6);
  // Base phi: the same function of p * ln(phi).
  const double p = std::log((1 + std::sqrt(5.0)) / 2);
  EXPECT_NEAR(at(panels[1], 1.0, 1.0), std::tanh(p) / (1 + std::exp(-p)), 1e-6);
}

TEST(Figures, TheSingularityIsWhereThePaperHasIt) {
  const json& panels = figure("singularity")["panels"];
  ASSERT_EQ(panels.size(), 2u);
  // Both solve (2.2)(6) = 13.2 at w1 = w2 = 1: NMU exactly, NAC* off by its epsilon. Small errors may be drawn as 0.5.
  EXPECT_LE(at(panels[1], 1.0, 1.0), 0.5);
  EXPECT_LE(at(panels[1], -1.0, 1.0), 0.5);  // two minus signs cancel
  EXPECT_NEAR(at(panels[0], 1.0, 1.0), 2.3 * 6.1 - 13.2, 1e-9);
  // With w1 = 0, NAC* divides by its epsilon; NMU's product is 1 - w2, squared.
  EXPECT_NEAR(at(panels[0], 0.0, -1.5), 1000 - 13.2, 1e-6);
  EXPECT_NEAR(at(panels[0], 0.0, 1.0), 13.2 - 0.01, 1e-9);
  EXPECT_NEAR(at(panels[1], 0.0, -1.5), 13.2 - 6.25, 1e-9);
  EXPECT_NEAR(at(panels[1], 0.0, 0.0), 12.2, 1e-9);
}

// sigma(-z) = 1 - sigma(z), with the numbers of the survey's example and a pair where sum and product differ.
TEST(Figures, AGateContradictsItself) {
  const json& panels = figure("gate")["panels"];
  ASSERT_EQ(panels.size(), 3u);
  const double open = 1 / (1 + std::exp(-8.0));
  EXPECT_NEAR(at(panels[0], std::size_t{1}, 2.0), open, 1e-5);
  EXPECT_NEAR(at(panels[0], std::size_t{1}, -2.0), 1 - open, 1e-5);
  for (const double t : {-4.0, -2.0, 1.0, 3.0}) EXPECT_NEAR(at(panels[0], std::size_t{2}, t), 1, 1e-6) << t;
  EXPECT_NEAR(at(panels[1], std::size_t{1}, 2.0), 4, 1e-5);
  EXPECT_NEAR(at(panels[1], std::size_t{1}, -2.0), 4, 0.01);  // and -4 is wanted
  EXPECT_NEAR(at(panels[1], std::size_t{2}, -2.0), -4, 1e-5);
  // Half open, both paths have a say: 7.5 - 6 and 1.5 + 6.
  EXPECT_NEAR(at(panels[2], std::size_t{0}, 0.0), (1.5 * 1.5 + 7.5 * 7.5) / 2, 1e-4);
  for (const json& series : panels[2]["series"])
    for (const double error : series["values"]) EXPECT_GT(error, 4);
}

TEST(Figures, TheIdentityIsLearnedInsideOnly) {
  if (test::sanitized) GTEST_SKIP() << "trains 136 networks";
  const json& panels = figure("identity")["panels"];
  ASSERT_EQ(panels.size(), 3u);
  for (const json& panel : panels)
    for (std::size_t k = 0; k < panel["series"].size(); ++k) EXPECT_LT(at(panel, k, 2.0), 0.5) << panel["series"][k];
  for (std::size_t k = 0; k < 5; ++k) EXPECT_GT(at(panels[0], k, 20.0), 5) << k;
  EXPECT_LT(at(panels[2], std::size_t{3}, 20.0), 0.5);  // none
}

TEST(Figures, AnUnknownNameListsTheKnownOnes) {
  for (const auto& result : {figure_data("nonsense"), figure_page("nonsense")}) {
    ASSERT_FALSE(result.ok());
    for (const FigureInfo& info : figures()) EXPECT_TRUE(contains(result.error().message, info.name));
  }
}

}  // namespace
}  // namespace nalm::report_test
