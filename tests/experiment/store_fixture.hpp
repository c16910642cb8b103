// A folder with a store of four cells, and runs whose numbers a careless format would change.
#pragma once

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiment/cells.hpp"
#include "experiment/store.hpp"
#include "experiment/store_file.hpp"
#include "words.hpp"

namespace nalm {

// Four cells: division with RealNPU and addition with NAU, each on two ranges.
inline Plan small_plan() {
  Plan plan = test::plan_of("single-module", "primer", "RealNPU,NAU", "div,add", "6,4");
  plan.seeds = {11, 3, 4294967295u};
  plan.iterations = 2000;
  return plan;
}

inline StoreInfo info_of(const Plan& plan) {
  return {plan, "nalm bench --seeds \"11,3\"", "1.2.3", "scalar", "2026-01-02T03:04:05Z", 5, 0};
}

// Numbers that a careless format would change: rounding, NaN, infinity, denormals, and the largest ones.
inline constexpr float floats[] = {0.1f,
                                   std::numeric_limits<float>::quiet_NaN(),
                                   std::numeric_limits<float>::infinity(),
                                   std::numeric_limits<float>::denorm_min(),
                                   std::numeric_limits<float>::max(),
                                   std::numeric_limits<float>::min() / 3,
                                   16777217.0f,
                                   0.0f};
inline constexpr double doubles[] = {0.1,
                                     std::numeric_limits<double>::quiet_NaN(),
                                     std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::denorm_min(),
                                     std::numeric_limits<double>::max(),
                                     1.0 / 3,
                                     4503599627370497.0,
                                     -0.0};

// Differs from run to run, and is the same for the same run.
inline FinishedRun run_of(const Cell& cell, const RunId& id, std::size_t rows = 3) {
  FinishedRun run{id, {}, 0.25};
  const bool as_float = !cell.own && cell.precision == Precision::Float;
  std::size_t k = id.seed % 8 + id.cell;
  const auto next = [&](bool is_float) {
    const std::size_t n = k++ % 8;
    return is_float ? static_cast<double>(floats[n]) : doubles[n];
  };
  int width = cell.stack.empty() ? 5 : 0;
  for (const LayerSpec& layer : cell.stack) width += parameter_count(*layer.module, layer.shape);
  for (std::size_t row = 0; row < rows; ++row) {
    run.record.steps.push_back(static_cast<long>(1000 * row));
    run.record.values.emplace_back();
    for (const Measure& measure : cell.measures) run.record.values.back().push_back(next(measure.is_float));
    run.record.parameters.emplace_back();
    if (!cell.keeps_parameters && row != 1) continue;
    // Signs too: parameters have them, errors do not.
    for (int p = 0; p < width; ++p) run.record.parameters.back().push_back(p % 2 ? -next(as_float) : next(as_float));
  }
  run.record.note = "y = x1*x2, \"found\"\n";
  run.record.facts = {{"verdict", "exact"}, {"formula", "y = \"\xc3\xa4\""}};
  return run;
}

inline FinishedRuns batch_of(const std::vector<Cell>& cells, const std::vector<RunId>& ids, std::size_t rows = 3) {
  FinishedRuns finished;
  for (const RunId& id : ids) finished.runs.push_back(run_of(cells[id.cell], id, rows));
  finished.timings = {{"data_seconds", 1}, {"training_seconds", 4}};
  return finished;
}

inline void expect_same_bits(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t row = 0; row < a.size(); ++row) {
    ASSERT_EQ(a[row].size(), b[row].size());
    for (std::size_t k = 0; k < a[row].size(); ++k)
      ASSERT_EQ(std::bit_cast<std::uint64_t>(a[row][k]), std::bit_cast<std::uint64_t>(b[row][k]))
          << row << ", " << k << ": " << a[row][k] << " and " << b[row][k];
  }
}

inline void expect_same(const FinishedRun& a, const FinishedRun& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.record.steps, b.record.steps);
  expect_same_bits(a.record.values, b.record.values);
  expect_same_bits(a.record.parameters, b.record.parameters);
  EXPECT_EQ(a.record.note, b.record.note);
  EXPECT_EQ(a.record.facts, b.record.facts);
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    for (const std::uint32_t seed : plan_.seeds)
      for (std::size_t cell = 0; cell < cells_.size(); ++cell) ids_.push_back({cell, seed});
  }

  std::string file() const { return folder_ + "/" + std::string(StoreFile::file_name); }

  Store created() {
    Result<Store> store = Store::create(folder_, info_of(plan_));
    EXPECT_TRUE(store.ok()) << complaint(store);
    return std::move(*store);
  }
  FinishedRuns batch(const std::vector<RunId>& ids, std::size_t rows = 3) const { return batch_of(cells_, ids, rows); }

  // Behind the store's back; the first column of the last row, or nothing.
  std::string sql(const std::string& statement) {
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
    std::string answer;
    const auto take = [](void* to, int, char** columns, char**) {
      *static_cast<std::string*>(to) = columns[0] ? columns[0] : "";
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(db, statement.c_str(), take, &answer, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
    return answer;
  }
  std::string about(const std::string& name) { return sql("SELECT value FROM about WHERE name = '" + name + "'"); }
  // Changes the stored plan as a program that means harm would.
  void set_plan(const std::string& part, const nlohmann::json& value) {
    nlohmann::json plan = nlohmann::json::parse(to_json(plan_));
    plan[part] = value;
    std::string text = plan.dump();
    for (std::size_t k = 0; (k = text.find('\'', k)) != text.npos; k += 2) text.insert(k, "'");
    sql("UPDATE about SET value = '" + text + "' WHERE name = 'plan'");
  }

  // What is stored is exactly these runs.
  void expect_stored(const std::vector<RunId>& ids, std::size_t rows = 3) {
    const Result<Store> store = Store::read(folder_);
    ASSERT_TRUE(store.ok()) << complaint(store);
    const Result<std::vector<FinishedRun>> runs = test::runs_in(*store);
    ASSERT_TRUE(runs.ok()) << complaint(runs);
    ASSERT_EQ(runs->size(), ids.size());
    for (const RunId& id : ids) {
      const auto found = std::find_if(runs->begin(), runs->end(), [&](const FinishedRun& run) { return run.id == id; });
      ASSERT_NE(found, runs->end());
      expect_same(*found, run_of(cells_[id.cell], id, rows));
    }
    EXPECT_EQ(store->missing()->size(), store->run_count() - ids.size());
  }

  // Both ways to open it.
  std::vector<std::string> refusals() const {
    return {complaint(Store::resume(folder_)), complaint(Store::read(folder_))};
  }

  const test::TemporaryFolder temporary_;
  const std::filesystem::path top_ = temporary_.path();
  std::string folder_ = (top_ / "deep" / "results").string();
  const Plan plan_ = small_plan();
  const std::vector<Cell> cells_ = *cells_of(plan_);
  std::vector<RunId> ids_;  // as the store wants them: every cell of a seed, then the next seed
};

// Runs f in a child process, which may set limits or die without harm; gives its exit code.
template <class F>
int in_child(F f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(f());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace nalm
