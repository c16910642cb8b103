// The page of a task: its data are those of the store, in few bytes, whatever is missing.
#include "report/task_report.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "page_data.hpp"
#include "report/curve_codes.hpp"
#include "report/page.hpp"
#include "words.hpp"

namespace nalm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Two relations with three seeds, of which the last has no run for the second one.
class TaskReport : public testing::Test {
 protected:
  TaskReport() {
    std::string pattern = (fs::temp_directory_path() / "nalm-task-report-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    plan_.task = *find_task("nsr-comparisons");
    plan_.preset = "quick";
    plan_.operations = "<=,=";
    plan_.seeds = {0, 1, 2};
  }
  ~TaskReport() override {
    store_.reset();
    fs::remove_all(folder_);
  }

  void make_store() {
    store_.emplace(*TaskStore::create((folder_ / "store").string(), {plan_, "nalm bench </script><!-- & \"quoted\"",
                                                                     "1.2.3", "scalar", "2026-01-02T03:04:05Z", 2, 0}));
  }
  // Accuracy 0 to 1, every other measure falls from 10 by a factor of ten every hundred rows.
  RunRecord record(std::size_t arm, long rows) const {
    RunRecord run;
    for (long r = 0; r < rows; ++r) {
      run.steps.push_back(70000 * r);  // more than 16 bits
      run.values.emplace_back(store_->arms()[arm].measures.size(), std::pow(10.0, 1 - static_cast<double>(r) / 100));
      run.values.back()[0] = static_cast<double>(r) / static_cast<double>(rows - 1);
    }
    run.note = "a <= b & \"c\"";
    return run;
  }
  void add(std::size_t arm, std::uint32_t seed, const RunRecord& run) {
    const Status added = store_->add({arm, seed}, run, 1, 1);
    ASSERT_TRUE(added.ok()) << complaint(added);
  }
  json data() const {
    const Result<TaskResults> results = judge_task(*store_);
    EXPECT_TRUE(results.ok()) << complaint(results);
    return json::parse(task_page_data(*results, *store_->runs()));
  }

  fs::path folder_;
  TaskPlan plan_;
  std::optional<TaskStore> store_;
};

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
  EXPECT_EQ(page["missing"], 1);
  EXPECT_EQ(page["goal"], "accuracy above 0.9999 at the last row");
  EXPECT_EQ(page["measures"][0], (json{{"name", "accuracy"}, {"share", true}}));
  ASSERT_EQ(page["cells"].size(), 2u);
  EXPECT_EQ(page["table"]["rows"].size(), 2u);
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
  plan_.task = *find_task("arithmetic-dataset");  // judged where the validation error is smallest
  plan_.preset = "full";
  plan_.operations.clear();
  plan_.models = "nau";
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

TEST_F(TaskReport, NothingInItsDataEndsThePage) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  make_store();
  add(0, 0, record(0, 3));
  const Result<std::string> page = task_page(*store_);
  ASSERT_TRUE(page.ok()) << complaint(page);
  const std::string text = data_text(*page);
  EXPECT_FALSE(contains(text, "<"));
  const json read = json::parse(text);
  EXPECT_EQ(read["command"], "nalm bench </script><!-- & \"quoted\"");
  EXPECT_EQ(read["cells"][0]["operation"], "<=");
  EXPECT_EQ(read["table"]["rows"][0][1], "<=");
}

}  // namespace
}  // namespace nalm
