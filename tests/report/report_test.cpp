// Pages that are whole: the data in them can be read, cannot end the page early, and are those of the store.
#include "report/report.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "page_data.hpp"
#include "report/figures.hpp"
#include "report/page.hpp"
#include "words.hpp"

namespace nalm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

// Two pairs on two ranges with two seeds; of the last cell one run is missing. Errors fall tenfold from row to row.
class Report : public testing::Test {
 protected:
  Report() {
    std::string pattern = (fs::temp_directory_path() / "nalm-report-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    grid_.pairs = {{*find_module("NAU"), Operation::Subtract}, {*find_module("NMU"), Operation::Multiply}};
    grid_.ranges = {paper_ranges()[6], {{3, 4, {}}, {5, 6, {}}}};
    grid_.seeds = {0, 1};
    store_.emplace(*RunStore::create(
        (folder_ / "store").string(),
        {grid_, "nalm bench </script><!-- & \"quoted\"", "1.2.3", "scalar", "2026-01-02T03:04:05Z", 2, 0, {}}));
    FinishedRuns finished;
    std::vector<RunId> ids = runs_of(grid_);
    ids.pop_back();
    for (const RunId& id : ids) {
      nalm::Run run{id, resolve_recipe(grid_, {id.module, id.operation}), {}};
      for (int r = 0; r < rows; ++r) {
        run.series.steps.push_back(1000 * r);
        run.series.validation_mse.push_back(static_cast<float>(std::pow(10.0, -r)));
        run.series.test_mse.push_back(r == 1 ? 0 : static_cast<float>(std::pow(10.0, 1 - 3 * r)));
        run.series.sparsity_error.push_back(r == 2 ? std::nan("") : 0.25);
        run.series.parameters.insert(run.series.parameters.end(), {1.0f, id.seed ? -1.0f : 0.3f});
      }
      finished.runs.push_back(run);
      finished.seconds.push_back(0);
    }
    EXPECT_TRUE(store_->add(finished, 1).ok());
  }
  ~Report() override {
    store_.reset();
    fs::remove_all(folder_);
  }

  std::string page(const Judgement& judgement = {}) {
    const Result<std::string> text = report_page(*store_, judgement);
    EXPECT_TRUE(text.ok()) << (text ? "" : text.error().message);
    return text ? *text : "";
  }

  static constexpr int rows = 5;
  fs::path folder_;
  Grid grid_;
  std::optional<RunStore> store_;
};

TEST_F(Report, ItsDataAreThoseOfTheStore) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  const json data = json::parse(data_text(page()));
  EXPECT_EQ(data["operations"], (json{"sub", "mul"}));
  EXPECT_EQ(data["modules"], (json{"NAU", "NMU"}));
  EXPECT_EQ(data["ranges"], (json{"U[1,2)", "U[3,4)"}));
  EXPECT_EQ(data["steps"], (json{0, 1000, 2000, 3000, 4000}));
  EXPECT_EQ(data["intervals"], "honest");
  EXPECT_EQ(data["created"], "2026-01-02T03:04:05Z");
  ASSERT_EQ(data["cells"].size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    const json& cell = data["cells"][k];
    SCOPED_TRACE(cell["module"].get<std::string>() + " " + cell["range"].get<std::string>());
    const std::size_t runs = k == 3 ? 1 : 2;
    EXPECT_EQ(cell["module"], k < 2 ? "NAU" : "NMU");
    EXPECT_EQ(cell["range"], k % 2 ? "U[3,4)" : "U[1,2)");
    EXPECT_EQ(cell["runs"], runs);
    ASSERT_EQ(cell["seeds"].size(), runs);
    // The paper has no [3,4).
    EXPECT_EQ(cell["published"].is_null(), k % 2 == 1);
    // Three numbers of 16 bits per row: 6 bytes, 8 characters.
    const std::string curves = cell["curves"];
    ASSERT_EQ(curves.size(), 8 * rows * runs);
    const std::vector<std::int16_t> numbers = numbers_of(curves);
    ASSERT_EQ(numbers.size(), 3 * rows * runs);
    for (std::size_t row = 0; row < rows * runs; ++row) {
      const int r = static_cast<int>(row % rows);
      EXPECT_EQ(numbers[3 * row], -1000 * r);
      EXPECT_EQ(numbers[3 * row + 1], r == 1 ? -32767 : 1000 - 3000 * r);  // 0 has no logarithm
      EXPECT_EQ(numbers[3 * row + 2], r == 2 ? -32768 : -602);             // nor has NaN
    }
    // The best row is the last; its test error of 1e-11 is below every threshold here.
    EXPECT_EQ(cell["successes"], runs);
    for (const json& run : cell["seeds"]) EXPECT_EQ(run["best_step"], 4000);
  }
}

TEST_F(Report, CountsFailures) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  Judgement judgement;
  judgement.criterion.epsilon = 1e-9;
  judgement.paper_intervals = true;
  const json data = json::parse(data_text(page(judgement)));
  EXPECT_EQ(data["intervals"], "paper");
  int failures = 0;
  for (const json& cell : data["cells"]) {
    EXPECT_EQ(cell["successes"], 0);
    EXPECT_TRUE(cell["solved_at"].is_null());
    for (const json& kind : cell["failures"]) failures += kind.get<int>();
    for (const json& run : cell["seeds"]) EXPECT_TRUE(run["failure"].is_string());
  }
  EXPECT_EQ(failures, 7);
}

TEST_F(Report, NothingInItsDataEndsThePage) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  const std::string text = page(), data = data_text(text);
  EXPECT_FALSE(contains(data, "<"));
  EXPECT_EQ(json::parse(data)["command"], "nalm bench </script><!-- & \"quoted\"");
  // Every script that begins ends, and none in between: neither in the data nor in the library.
  EXPECT_EQ(count(text, "<script"), count(text, "</script"));
  EXPECT_TRUE(text.ends_with("</html>\n") || text.ends_with("</html>")) << text.substr(text.size() - 100);
  for (const char* mark :
       {"/*NALM_DATA*/", "/*NALM_STYLE*/", "/*NALM_LIBRARY*/", "/*NALM_SCRIPT*/", "<title>NALM_TITLE"})
    EXPECT_FALSE(contains(text, mark)) << mark;
}

TEST_F(Report, FetchesNothing) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  const std::string text = page();
  for (const char* part : {"<script src", "<link rel=\"stylesheet\"", "@import", "<img src=\"http"})
    EXPECT_FALSE(contains(text, part)) << part;
}

TEST(Page, EscapesTitleAndData) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  const Result<std::string> page = make_page("a < b & c", PageScript::Figure, R"({"x":"</script>/*NALM_SCRIPT*/"})");
  ASSERT_TRUE(page.ok());
  EXPECT_TRUE(contains(*page, "<title>a &lt; b &amp; c</title>"));
  EXPECT_EQ(json::parse(data_text(*page))["x"], "</script>/*NALM_SCRIPT*/");
}

// ---- the explanatory figures ---------------------------------------------------------------------------------------

json figure(std::string_view name) {
  const Result<std::string> text = figure_data(name);
  EXPECT_TRUE(text.ok()) << (text ? "" : text.error().message);
  return text ? json::parse(*text) : json();
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
  EXPECT_EQ(figures().size(), 4u);
  for (const FigureInfo& info : figures()) {
    SCOPED_TRACE(info.name);
    const json data = figure(info.name);
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
    if (!has_plotting_library()) continue;
    const Result<std::string> page = figure_page(info.name);
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(json::parse(data_text(*page)), data);
  }
}

TEST(Figures, RegularisersHaveTheirKnownValues) {
  const json panels = figure("regularisers")["panels"];
  ASSERT_EQ(panels.size(), 3u);
  const std::vector<std::array<double, 3>> sparsity = {{-1, 0, 1}, {-0.5, 0.5, 0.5}, {0, 0, 0}, {0.5, 0.5, 0.5},
                                                       {1, 0, 0},  {1.5, 0.5, 0.5}};  // weight, NAU, NMU
  for (const auto& [w, nau, nmu] : sparsity) {
    EXPECT_EQ(at(panels[0], std::size_t{0}, w), nau) << w;
    EXPECT_EQ(at(panels[0], std::size_t{1}, w), nmu) << w;
  }
  EXPECT_EQ(at(panels[1], std::size_t{0}, 0.0), 20);
  EXPECT_EQ(at(panels[1], std::size_t{0}, -20.0), 0);
  EXPECT_EQ(at(panels[1], std::size_t{0}, 30.0), 0);
  EXPECT_EQ(at(panels[2], std::size_t{0}, 4.0), 0);
  EXPECT_EQ(at(panels[2], std::size_t{0}, 5.0), 0.5);
  EXPECT_EQ(at(panels[2], std::size_t{0}, 6.0), 1);
  EXPECT_EQ(at(panels[2], std::size_t{0}, 10.0), 1);
}

TEST(Figures, WeightsHaveTheirKnownValues) {
  const json panels = figure("weights")["panels"];
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
  const json panels = figure("singularity")["panels"];
  ASSERT_EQ(panels.size(), 2u);
  // Both solve (2.2)(6) = 13.2 at w1 = w2 = 1: NMU exactly, NAC* off by its epsilon. Small errors may be drawn as 0.1.
  EXPECT_LE(at(panels[1], 1.0, 1.0), 0.1);
  EXPECT_NEAR(at(panels[0], 1.0, 1.0), 2.3 * 6.1 - 13.2, 1e-9);
  // With w1 = 0, NAC* divides by its epsilon; NMU's product is 1 - w2, squared.
  EXPECT_NEAR(at(panels[0], 0.0, -1.5), 1000 - 13.2, 1e-6);
  EXPECT_NEAR(at(panels[0], 0.0, 1.0), 13.2 - 0.01, 1e-9);
  EXPECT_NEAR(at(panels[1], 0.0, -1.5), 13.2 - 6.25, 1e-9);
  EXPECT_NEAR(at(panels[1], 0.0, 0.0), 12.2, 1e-9);
}

TEST(Figures, AnUnknownNameListsTheKnownOnes) {
  for (const auto& result : {figure_data("nonsense"), figure_page("nonsense")}) {
    ASSERT_FALSE(result.ok());
    for (const FigureInfo& info : figures()) EXPECT_TRUE(contains(result.error().message, info.name));
  }
}

}  // namespace
}  // namespace nalm
