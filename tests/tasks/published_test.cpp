// The published numbers of the single module task as the program has them, against a few read off the files by hand.
#include "experiment/published.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "experiment/plan.hpp"
#include "words.hpp"

namespace nalm::published_test {
namespace {

const double none = std::nan("");

Plan plan_of(std::string preset, std::string inputs = "") {
  Plan plan;
  plan.task = *find_task("single-module");
  plan.preset = std::move(preset);
  plan.seeds = {0};
  if (!inputs.empty()) plan.options["inputs"] = std::move(inputs);
  return plan;
}

std::vector<PublishedFigure> figures_of(const Plan& plan) { return plan.task->published(plan); }

struct Published : testing::Test {
  // Null if there is none.
  const PublishedFigure* find(const std::string& model, const std::string& operation, const std::string& setting,
                              const std::string& what = "success") const {
    const PublishedFigure* found = nullptr;
    for (const PublishedFigure& figure : figures) {
      if (figure.model != model || figure.operation != operation || figure.setting != setting || figure.what != what)
        continue;
      EXPECT_FALSE(found) << model << " " << operation << " " << setting << " is there twice";
      found = &figure;
    }
    return found;
  }
  std::vector<PublishedFigure> figures = figures_of(plan_of("primer"));
};

int successes(const PublishedFigure& figure) {
  return static_cast<int>(std::lround(figure.value.value * *figure.runs));
}

TEST_F(Published, HasEveryCellOfThePapersGridOnce) {
  const Result<std::vector<Cell>> cells = cells_of(plan_of("primer"));
  ASSERT_TRUE(cells.ok()) << complaint(cells);
  std::set<const PublishedFigure*> found;
  for (const Cell& cell : *cells) {
    const PublishedFigure* figure = find(cell.model, cell.operation, cell.setting);
    ASSERT_TRUE(figure) << cell.name();
    EXPECT_TRUE(figure->same_seeds && figure->comparable && figure->mean);
    EXPECT_EQ(figure->runs, 25);
    found.insert(figure);
  }
  EXPECT_EQ(found.size(), 207u);
  std::size_t same_seeds = 0;
  for (const PublishedFigure& figure : figures) same_seeds += figure.same_seeds && figure.what == "success";
  EXPECT_EQ(same_seeds, 207u);
}

TEST_F(Published, HasNoOtherCell) {
  EXPECT_EQ(find("NAU", "mul", "U[1,2)"), nullptr);
  EXPECT_EQ(find("NLRL", "add", "U[1,2)"), nullptr);
  EXPECT_EQ(find("NAU", "add", "U[1,3)"), nullptr);
  EXPECT_EQ(find("NAU", "add", "[1,2)"), nullptr);
}

// With ten inputs nothing of the survey is repeated seed by seed.
TEST_F(Published, HasLaterModulesWithTheirSource) {
  int later = 0;
  for (const PublishedFigure& figure : figures) {
    if (figure.source.empty()) continue;
    ++later;
    EXPECT_FALSE(figure.same_seeds);
    EXPECT_EQ(figure.runs, 25);
    // Judged by one threshold for all ranges, so that its cells are shown and not judged.
    const bool is_dmu = figure.model.starts_with("DMU-");
    EXPECT_EQ(figure.comparable, !is_dmu) << figure.model;
    if (is_dmu) continue;
    // Without a sign of its own it fails wherever an input is negative.
    const bool fails = figure.model == "MulMC-FC" && figure.setting.starts_with("U[-");
    EXPECT_EQ(figure.value.value, fails ? 0 : 1) << figure.model << " " << figure.setting;
  }
  EXPECT_EQ(later, 72);
  for (const auto& [operation, setting, rate] : {std::tuple("div", "U[-0.2,-0.1)", 0.72),
                                                 {"div", "U[1.1,1.2)", 0.8},
                                                 {"sub", "U[1.1,1.2)", 1.0},
                                                 {"div", "U[-2,2)", 1.0}}) {
    const PublishedFigure* figure = find("DMU-sub", operation, setting);
    ASSERT_TRUE(figure) << operation << " " << setting;
    EXPECT_EQ(figure->value.value, rate) << operation << " " << setting;
  }
  EXPECT_EQ(find("NMRU", "div", "all"), nullptr);
  figures = figures_of(plan_of("primer", "10"));
  for (const auto& [model, rate] : {std::pair("RealNPU-modified", 0.853), {"NMRU", 0.916}, {"RealNPU", 0.702}}) {
    const PublishedFigure* figure = find(model, "div", "all");
    ASSERT_TRUE(figure) << model;
    EXPECT_EQ(figure->value.value, rate);
    EXPECT_EQ(figure->runs, 225) << "of nine ranges";
  }
  EXPECT_EQ(find("NMU", "mul", "U[1,2)"), nullptr);
  // A preset may say how many inputs there are.
  EXPECT_EQ(figures_of(plan_of("beyond-primer-10")).size(), figures.size());
  EXPECT_TRUE(figures_of(plan_of("primer", "7")).empty());
}

TEST_F(Published, ARangeThatIsTestedElsewhereIsAnotherTask) {
  Plan plan = plan_of("primer");
  plan.settings = "[1,2)";
  plan.options["test-range"] = "[100,200)";
  EXPECT_TRUE(figures_of(plan).empty());
}

void expect_estimate(const PublishedFigure* figure, double value, double lo, double hi) {
  ASSERT_TRUE(figure);
  const Estimate& e = figure->value;
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  EXPECT_TRUE(same(e.value, value) && same(e.lo, lo) && same(e.hi, hi)) << e.value << " " << e.lo << " " << e.hi;
}

TEST_F(Published, SpotValuesAreThoseOfTheFile) {
  const PublishedFigure* rate = find("NAC+", "add", "U[-0.2,-0.1)");
  expect_estimate(rate, 0, 0, 0.13);
  EXPECT_EQ(find("NAC+", "add", "U[-0.2,-0.1)", "solved-at"), nullptr);
  EXPECT_EQ(find("NAC+", "add", "U[-0.2,-0.1)", "sparsity"), nullptr);
  EXPECT_EQ(successes(*rate), 0);
  rate = find("NAC+", "add", "U[-1.2,-1.1)");
  expect_estimate(rate, 0.28, 0.14, 0.48);
  expect_estimate(find("NAC+", "add", "U[-1.2,-1.1)", "solved-at"), 49000, 48170, 49820);
  expect_estimate(find("NAC+", "add", "U[-1.2,-1.1)", "sparsity"), 1.4e-05, 1.17e-05, 1.63e-05);
  EXPECT_EQ(successes(*rate), 7);
  rate = find("NMU", "mul", "U[1,2)");
  expect_estimate(rate, 1, 0.87, 1);
  expect_estimate(find("NMU", "mul", "U[1,2)", "solved-at"), 2800, 2630, 2960);
  expect_estimate(find("NMU", "mul", "U[1,2)", "sparsity"), 1e-16, none, none);
  EXPECT_EQ(successes(*rate), 25);
  rate = find("NAC*", "div", "U[10,20)");
  expect_estimate(rate, 0.16, 0.06, 0.35);
  expect_estimate(find("NAC*", "div", "U[10,20)", "sparsity"), 3.2e-05, 2.64e-05, 3.86e-05);
  EXPECT_EQ(successes(*rate), 4);
}

TEST_F(Published, EveryRateIsAWholeNumberOfRuns) {
  for (const PublishedFigure& figure : figures) {
    if (!figure.same_seeds || figure.what != "success") continue;
    const std::string cell = figure.model + " " + figure.operation + " " + figure.setting;
    EXPECT_NEAR(figure.value.value * 25, successes(figure), 1e-9) << cell;
    EXPECT_GE(successes(figure), 0);
    EXPECT_LE(successes(figure), 25);
    EXPECT_LE(figure.value.lo, figure.value.value);
    EXPECT_GE(figure.value.hi, figure.value.value);
    // What never succeeded was never solved.
    EXPECT_EQ(find(figure.model, figure.operation, figure.setting, "solved-at") == nullptr, successes(figure) == 0)
        << cell;
  }
}

TEST_F(Published, NinetyTwoCellsThatAreReproducibleHaveAnIntervalOfSolvedAt) {
  int cells = 0, reproducible = 0;
  for (const PublishedFigure& figure : figures) {
    if (!figure.same_seeds || figure.model == "NPU" || figure.model == "RealNPU") continue;
    reproducible += figure.what == "success";
    cells += figure.what == "solved-at" && !std::isnan(figure.value.lo);
  }
  EXPECT_EQ(reproducible, 171);
  EXPECT_EQ(cells, 92);
}

// ---- other tasks ---------------------------------------------------------------------------------------------------

TEST(PublishedTasks, SpotValuesAreThoseOfTheFile) {
  const std::vector<PublishedFigure> figures = published_in_tasks_csv("calcnet");
  ASSERT_FALSE(figures.empty());
  const PublishedFigure& first = figures.front();
  EXPECT_EQ(first.model, "NAC+");
  EXPECT_EQ(first.operation, "a+b");
  EXPECT_EQ(first.setting, "operators");
  EXPECT_EQ(first.what, "interpolation");
  EXPECT_EQ(first.value.value, 3.6e-07);
  EXPECT_TRUE(std::isnan(first.value.lo));
  EXPECT_EQ(first.source, "Rana table I; Nadam, number of runs not stated");
  EXPECT_FALSE(first.runs.has_value());
  EXPECT_FALSE(first.mean);
  EXPECT_TRUE(first.comparable);
  EXPECT_TRUE(published_in_tasks_csv("juggling").empty());
}

}  // namespace
}  // namespace nalm::published_test
