// The tables of a task, and its comparison with what was published, from runs made by hand.
#include "report/task_tables.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/task_comparison.hpp"
#include "words.hpp"

namespace nalm {
namespace {

constexpr TaskPreset presets[] = {{"quick", "", 4, ""}, {"full", "", 4, ""}};
const Task task{.name = "hand-made", .title = "By hand", .source = "", .settings = "", .presets = presets};

// Four runs of two cells: the first solved three times, the second never; the second has no measure "test".
struct TaskTables : testing::Test {
  TaskTables() {
    results.info.plan.task = &task;
    results.info.plan.preset = "full";
    Arm arm;
    arm.model = "NAC*", arm.operation = "mul", arm.setting = "U[1,2)";
    arm.measures = {{"validation", Measure::Kind::Mse, 0, 0}, {"test", Measure::Kind::Mse, 1, 0}};
    arm.goal = {"test", "validation", 1e-3, false, {}};
    results.arms = {arm, arm};
    results.arms[1].model = "N_2";
    results.arms[1].measures.pop_back();
    results.arms[1].goal = {"validation", "", 1e-3, false, {}};
    std::vector<StoredTaskRun> runs;
    const double errors[] = {1e-5, 2e-5, 5e-4, 4};
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      runs.push_back({{0, seed}, {{0, 1000}, {{9, 8}, {1, errors[seed]}}, {}, "y = x1*x2"}, "{}", 0});
      runs.push_back({{1, seed}, {{0, 1000}, {{9}, {3}}, {}, ""}, "{}", 0});
    }
    results.cells = summarise(results.arms, runs);
    results.notes = {{"y = x1*x2", "y = x1*x2", "y = x1*x2", ""}, {"", "", "", ""}};
    results.published = {{"hand-made", "NAC*", "mul", "U[1,2)", "success", 0.8, "Somebody 2020"},
                         {"hand-made", "NAC*", "mul", "U[1,2)", "test", 3e-5, "Somebody 2020"},
                         {"hand-made", "NAC*", "mul", "U[1,2)", "test", 4e-5, "Another, not comparable: mean"},
                         {"hand-made", "X", "mul", "U[1,2)", "success", 0.1, "of a cell that is not here"}};
  }
  std::string print(TaskMetric metric, TableFormat format) { return print_task_table(results, metric, format); }

  TaskResults results;
};

TEST_F(TaskTables, TheTerminalsHasPublishedFiguresBesideOurs) {
  const std::string text = print(TaskMetric::All, TableFormat::Terminal);
  EXPECT_TRUE(contains(text, "75 [30, 95]     80 (a)")) << text;
  EXPECT_TRUE(contains(text, "0.00026 +- 0.00024  3e-05 (a) / 4e-05 (b)")) << text;
  EXPECT_TRUE(contains(text, "Published: (a) Somebody 2020; (b) Another, not comparable: mean\n")) << text;
  EXPECT_TRUE(contains(text, "NAC* | mul | U[1,2): y = x1*x2 (3 of 4 runs)\n")) << text;
  EXPECT_FALSE(contains(text, "before regularisers %")) << "an empty column\n" << text;
  EXPECT_FALSE(contains(text, "not here")) << text;
}

TEST_F(TaskTables, OneMetricShowsNothingElse) {
  const std::string success = print(TaskMetric::Success, TableFormat::Terminal);
  EXPECT_TRUE(contains(success, "3/4")) << success;
  EXPECT_FALSE(contains(success, "+-")) << success;
  const std::string mad = print(TaskMetric::Mad, TableFormat::Terminal);
  EXPECT_TRUE(contains(mad, "1 +- 0")) << mad;
  EXPECT_FALSE(contains(mad, "3/4")) << mad;
  const std::string trask = print(TaskMetric::Trask, TableFormat::Terminal);
  EXPECT_TRUE(contains(trask, "0.00325 +- 0.0031")) << trask;  // 100 * 2.6e-4 / 8
  EXPECT_TRUE(contains(trask, "33.3 +- 0")) << trask;
  const std::string before = print(TaskMetric::PreRegularisation, TableFormat::Csv);
  EXPECT_TRUE(contains(before, "NAC*,mul,\"U[1,2)\",4,,,,\n")) << before;
}

TEST_F(TaskTables, CsvHasEveryNumber) {
  const std::string text = print(TaskMetric::All, TableFormat::Csv);
  EXPECT_TRUE(text.starts_with("model,operation,setting,runs,limit,successes,success,")) << text;
  EXPECT_TRUE(contains(text, "\nNAC*,mul,\"U[1,2)\",4,0.001,3,0.75,")) << text;
  EXPECT_TRUE(contains(text, ",3e-05;4e-05,")) << text;
  EXPECT_TRUE(contains(text, ",\"Somebody 2020; Another, not comparable: mean\"\n")) << text;
  // As many commas in every line, those in quotes aside.
  std::vector<int> commas(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++commas.back();
    if (c == '\n') commas.push_back(0);
  }
  ASSERT_EQ(commas.size(), 4u);
  EXPECT_EQ(commas[1], commas[0]);
  EXPECT_EQ(commas[2], commas[0]);
}

TEST_F(TaskTables, ACellWithoutAGoalHasNoRate) {
  results.arms[1].goal = {};
  EXPECT_FALSE(contains(print(TaskMetric::All, TableFormat::Terminal), "0/4"));
  EXPECT_TRUE(contains(print(TaskMetric::Success, TableFormat::Csv), "\nN_2,mul,\"U[1,2)\",4,,,,,,,,,,,\n"))
      << print(TaskMetric::Success, TableFormat::Csv);
  EXPECT_TRUE(nlohmann::json::parse(print(TaskMetric::All, TableFormat::Json))["cells"][1]["goal"].is_null());
  EXPECT_EQ(describe_goal(results), "test below 0.001 at the row with the smallest validation");
  results.arms[0].goal = {};
  EXPECT_FALSE(contains(print(TaskMetric::All, TableFormat::Terminal), "Solved")) << "nothing is judged";
}

TEST_F(TaskTables, MarkdownAndLatexEscapeNames) {
  const std::string markdown = print(TaskMetric::All, TableFormat::Markdown);
  EXPECT_TRUE(contains(markdown, "### By hand (hand-made, preset full)\n")) << markdown;
  EXPECT_TRUE(contains(markdown, "| NAC\\* | mul | U[1,2) | 3/4 |")) << markdown;
  EXPECT_TRUE(contains(markdown, "0.00026 ± 0.00024")) << markdown;
  const std::string latex = print(TaskMetric::All, TableFormat::Latex);
  EXPECT_TRUE(contains(latex, "N\\_2 & mul")) << latex;
  EXPECT_TRUE(contains(latex, "$\\pm$")) << latex;
  EXPECT_TRUE(contains(latex, "80 (a)")) << latex;
}

TEST_F(TaskTables, JsonHasEveryRun) {
  const nlohmann::json all = nlohmann::json::parse(print(TaskMetric::Success, TableFormat::Json));
  ASSERT_EQ(all["cells"].size(), 2u);
  const nlohmann::json& cell = all["cells"][0];
  EXPECT_EQ(cell["successes"], 3);
  EXPECT_EQ(cell["published"].size(), 3u);
  EXPECT_EQ(cell["published"][2]["value"], 4e-5);
  EXPECT_EQ(cell["goal"]["below"], 1e-3);
  ASSERT_EQ(cell["seeds"].size(), 4u);
  EXPECT_EQ(cell["seeds"][3]["values"]["test"], 4);
  EXPECT_EQ(cell["seeds"][0]["note"], "y = x1*x2");
}

TEST_F(TaskTables, RatesAreComparedByIntervals) {
  Result<TaskComparison> comparison = compare_task(results);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  ASSERT_EQ(comparison->figures.size(), 3u);
  EXPECT_TRUE(comparison->figures[0].judged && comparison->figures[0].agrees);
  EXPECT_FALSE(comparison->figures[1].judged) << "a median is only shown";
  EXPECT_TRUE(comparison->agrees());
  const std::string text = nalm::print(*comparison, true);
  EXPECT_TRUE(contains(text, "1 of 1 published success rates agree")) << text;
  EXPECT_TRUE(contains(text, "80          -5      agrees")) << text;

  // 3 of 4 is compatible with 30 to 95 %, and one run more at either side.
  const std::pair<double, bool> rates[] = {{0.06, true}, {0.04, false}, {1, true}};
  for (const auto& [rate, agrees] : rates) {
    results.published[0].value = rate;
    EXPECT_EQ(compare_task(results)->agrees(), agrees) << rate;
  }
  // With a known number of runs the published interval counts as well: 1 of 20 has [0.9, 23.6] %.
  results.published[0].value = 0.05;
  results.published[0].runs = 20;
  EXPECT_FALSE(compare_task(results)->agrees());
  results.published[0].runs = 1;  // 0 of 1 has [0, 79] %
  EXPECT_TRUE(compare_task(results)->agrees());
  results.published[0].runs = {};
  results.published[0].remark = "not comparable: another threshold";
  EXPECT_TRUE(compare_task(results)->agrees());
}

TEST_F(TaskTables, PublishedMeansAreComparedWithMeans) {
  results.published.erase(results.published.begin());
  results.published[0].remark = "mean of 4 runs";
  const Result<TaskComparison> comparison = compare_task(results);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  EXPECT_NEAR(comparison->figures[0].ours, (1e-5 + 2e-5 + 5e-4 + 4) / 4, 1e-12);
  EXPECT_NEAR(comparison->figures[1].ours, 2.6e-4, 1e-12) << "a median unless the remark says otherwise";
  const std::string text = nalm::print(*comparison, true);
  EXPECT_TRUE(contains(text, "test, mean")) << text;
  // Nothing to judge by is not agreement.
  EXPECT_TRUE(contains(text, "No success rate was published that ours could be judged by; 2 other figures")) << text;
  EXPECT_FALSE(contains(text, "agrees")) << text;
}

TEST_F(TaskTables, OnlyWhatFollowsTheTaskIsCompared) {
  results.info.plan.learning_rate = 0.0;
  EXPECT_TRUE(contains(complaint(compare_task(results)), "--learning-rate")) << complaint(compare_task(results));
  results.info.plan.learning_rate = {};
  results.info.plan.preset = "quick";
  EXPECT_TRUE(contains(nalm::print(*compare_task(results), false), "preset quick trains less"));
  results.published.clear();
  EXPECT_TRUE(contains(complaint(compare_task(results)), "nothing was published")) << complaint(compare_task(results));
}

}  // namespace
}  // namespace nalm
