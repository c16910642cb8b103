// Every run gives the same bits, whatever runs beside it: threads, SIMD targets, other runs, other logging.
#include "tasks/single_module/runner.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "base/aligned.hpp"
#include "simd/dispatch.hpp"
#include "tasks/single_module_plan.hpp"
#include "train/bundle.hpp"
#include "words.hpp"

namespace nalm::single_module_runner_test {
namespace {

std::string name_of_run(const Cell& cell, std::uint32_t seed) {
  return cell.name() + ", " + std::to_string(problem_of(cell).inputs) + " inputs, seed " + std::to_string(seed);
}

// The paper's 23 pairs on two ranges. Five seeds on each: more places than the widest usual target has lanes, and not a
// multiple of them.
Plan plan_of(long iterations, long log_every) {
  Plan plan = single_module_plan("", "", "6,4");
  plan.seeds = {0, 1, 2, 3, 4};
  plan.iterations = iterations;
  plan.log_every = log_every;
  return plan;
}

// What a plan asks for.
struct Runs {
  std::vector<Cell> cells;
  std::vector<RunId> ids;

  explicit Runs(const Plan& plan) : cells(made(plan)) {
    for (const std::uint32_t seed : plan.seeds)
      for (std::size_t cell = 0; cell < cells.size(); ++cell) ids.push_back({cell, seed});
  }
  const Cell& cell(const RunId& id) const { return cells[id.cell]; }
  std::string name(const RunId& id) const { return name_of_run(cells[id.cell], id.seed); }
};

using Records = std::map<std::string, RunRecord>;

Records trained(const Runs& runs, const std::vector<RunId>& ids, int threads = 2) {
  Records records;
  ExecutorSettings settings;
  settings.threads = threads;
  settings.finished = [&](const FinishedRuns& finished) -> Status {
    for (const FinishedRun& run : finished.runs)
      EXPECT_TRUE(records.emplace(runs.name(run.id), run.record).second) << runs.name(run.id) << " came twice";
    return Done{};
  };
  const Status status = train_single_modules(runs.cells, ids, settings);
  EXPECT_TRUE(status.ok()) << complaint(status);
  EXPECT_EQ(records.size(), ids.size());
  for (const RunId& id : ids) EXPECT_TRUE(records.contains(runs.name(id))) << runs.name(id);
  return records;
}

Records trained(const Plan& plan, int threads = 2) {
  const Runs runs(plan);
  return trained(runs, runs.ids, threads);
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same(x, y); });
}

// Row r of a is row s of b.
bool same_row(const RunRecord& a, std::size_t r, const RunRecord& b, std::size_t s) {
  return same(a.parameters[r], b.parameters[s]) && same(a.values[r], b.values[s]);
}

// Every run of part is the run of the same name in whole; rows of the same step are compared, and the last one is.
void expect_same(const Records& part, const Records& whole) {
  for (const auto& [name, record] : part) {
    ASSERT_TRUE(whole.contains(name)) << name;
    const RunRecord& other = whole.at(name);
    ASSERT_EQ(record.steps.back(), other.steps.back()) << name;
    std::size_t common = 0;
    for (std::size_t r = 0; r < record.rows(); ++r) {
      const auto at = std::find(other.steps.begin(), other.steps.end(), record.steps[r]);
      if (at == other.steps.end()) continue;
      ++common;
      ASSERT_TRUE(same_row(record, r, other, static_cast<std::size_t>(at - other.steps.begin())))
          << name << " at step " << record.steps[r];
    }
    ASSERT_GE(common, 2u) << name;
  }
}

// Sets NALM_SIMD for a while.
class ForcedTarget {
 public:
  explicit ForcedTarget(std::string_view name) {
    if (const char* now = getenv("NALM_SIMD")) before_ = now;
    setenv("NALM_SIMD", std::string(name).c_str(), 1);
  }
  ~ForcedTarget() { before_.empty() ? unsetenv("NALM_SIMD") : setenv("NALM_SIMD", before_.c_str(), 1); }

 private:
  std::string before_;
};

// ---- what is logged ------------------------------------------------------------------------------------------------

TEST(Runner, LogsTheFirstRowEveryNthAndTheLast) {
  using Steps = std::vector<long>;
  const std::tuple<long, long, Steps> cases[] = {{0, 1000, {0}},       {0, 1, {0}},           {1, 1, {0, 1}},
                                                 {3, 1, {0, 1, 2, 3}}, {20, 10, {0, 10, 20}}, {25, 10, {0, 10, 20, 25}},
                                                 {5, 1000000, {0, 5}}};
  for (const auto& [iterations, log_every, steps] : cases) {
    Plan plan = plan_of(iterations, log_every);
    plan.models = "NAU,iNALU";
    plan.operations = "add";
    plan.settings = "6";
    plan.seeds = {5};
    for (const auto& [name, record] : trained(plan)) {
      EXPECT_EQ(record.steps, steps) << name;
      ASSERT_EQ(record.values.size(), steps.size());
      ASSERT_EQ(record.parameters.size(), steps.size());
      const ModuleInfo& module = **find_module(name.starts_with("NAU") ? "NAU" : "iNALU");
      for (std::size_t row = 0; row < steps.size(); ++row) {
        EXPECT_EQ(record.values[row].size(), 3u);
        EXPECT_EQ(record.parameters[row].size(),
                  static_cast<std::size_t>(parameter_count(module, default_shape(module, 2, 1))));
      }
    }
  }
}

TEST(Runner, ItsFirstRowHasTheStartValues) {
  // A row shows the parameters before the iteration of that number.
  Plan plan = plan_of(0, 1);
  plan.models = "NAU";
  plan.operations = "add";
  plan.settings = "6";
  plan.seeds = {0};
  const RunRecord none = trained(plan).begin()->second;
  plan.iterations = 1;
  const RunRecord one = trained(plan).begin()->second;
  EXPECT_TRUE(same_row(none, 0, one, 0));
  EXPECT_FALSE(same_row(none, 0, one, 1));
}

TEST(Runner, TellsWhoWatchesEveryRow) {
  Plan plan = plan_of(20, 10);
  plan.models = "NAU,NMU";
  plan.operations = "add,mul";
  const Runs runs(plan);
  std::map<std::string, std::vector<std::size_t>> rows;
  std::mutex mutex;
  std::atomic<double> progress = 0;
  ExecutorSettings settings;
  settings.threads = 2;
  settings.progress = &progress;
  settings.logged = [&](const RunId& id, const RunRecord& record) {
    const std::lock_guard lock(mutex);
    rows[runs.name(id)].push_back(record.rows());
  };
  settings.finished = [](const FinishedRuns&) -> Status { return Done{}; };
  ASSERT_TRUE(train_single_modules(runs.cells, runs.ids, settings).ok());
  EXPECT_EQ(rows.size(), runs.ids.size());
  for (const auto& [name, seen] : rows) EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3})) << name;
  EXPECT_NEAR(progress, 1, 1e-9);
}

TEST(Runner, HasNothingToDoWithoutRuns) {
  ExecutorSettings settings;
  settings.finished = [](const FinishedRuns&) -> Status { return Error{"called"}; };
  EXPECT_TRUE(train_single_modules(Runs(plan_of(10, 10)).cells, {}, settings).ok());
}

RunRecord by_hand(const Cell& cell, std::uint32_t seed, bool renew = true);  // below

// ---- same bits -----------------------------------------------------------------------------------------------------

TEST(SameBits, ForAnyNumberOfThreads) {
  const Plan plan = plan_of(30, 20);
  const Records one = trained(plan, 1);
  for (const int threads : {2, 5}) {
    SCOPED_TRACE(threads);
    expect_same(trained(plan, threads), one);
  }
}

TEST(SameBits, ForEverySimdTarget) {
  const Plan plan = plan_of(25, 20);
  std::optional<Records> first;
  std::set<std::string_view> seen;
  for (const simd::Target& target : simd::targets()) {
    if (!target.supported) continue;
    SCOPED_TRACE(target.name);
    const ForcedTarget forced(target.name);
    ASSERT_EQ(simd::choose_target().value()->name, target.name);
    const Records records = trained(plan);
    if (first) expect_same(records, *first);
    if (!first) first = records;
    seen.insert(target.name);
  }
  if (seen.size() < 2) GTEST_SKIP() << "one target proves nothing";
}

TEST(SameBits, ForEverySimdTargetAndThreadsWithMoreInputs) {
  for (const int inputs : {3, 10}) {
    Plan plan = plan_of(12, 10);
    plan.options["inputs"] = std::to_string(inputs);
    plan.models = "NAC*,NALU,iNALU,NAU,NMU,NPU";
    plan.operations = "sub,mul";
    plan.seeds = {0, 1, 2};  // whose operands stand in different places
    std::optional<Records> first;
    int threads = 1;
    for (const simd::Target& target : simd::targets()) {
      if (!target.supported) continue;
      SCOPED_TRACE(std::string(target.name) + ", " + std::to_string(inputs) + " inputs");
      const ForcedTarget forced(target.name);
      const Records records = trained(plan, threads++);
      if (first) expect_same(records, *first);
      if (!first) first = records;
    }
  }
}

TEST(SameBits, ForAnyPartOfTheRuns) {
  const Plan plan = plan_of(25, 20);
  const Runs runs(plan);
  const std::vector<RunId>& all = runs.ids;
  const Records whole = trained(plan);
  for (const std::size_t k : {std::size_t{0}, std::size_t{57}, all.size() - 1})
    expect_same(trained(runs, {all[k]}), whole);
  // What an interruption leaves: holes.
  for (const unsigned step : {3u, 7u, 23u, 24u}) {
    std::vector<RunId> part;
    for (std::size_t k = step / 2; k < all.size(); k += step) part.push_back(all[k]);
    SCOPED_TRACE(step);
    expect_same(trained(runs, part), whole);
  }
  const std::vector<RunId> end(all.end() - 40, all.end());
  expect_same(trained(runs, end, 5), whole);
}

// What shards and ranks train: neighbours, which begin and end in the middle of a range.
TEST(SameBits, ForEveryUnitAndForNeighbours) {
  const Plan plan = plan_of(25, 20);
  const Runs runs(plan);
  const Records whole = trained(plan);
  const std::vector<Unit> units = units_of_places(runs.cells, runs.ids, 4);
  ASSERT_EQ(units.size(), 3 * 23u);  // ten places
  EXPECT_EQ(units[0].runs.size(), 3u);
  EXPECT_EQ(units.back().runs.size(), 4u);
  EXPECT_EQ(units[22].group, units[0].group);
  EXPECT_NE(units[23].group, units[0].group);
  for (const std::size_t first : {0u, 17u, 40u}) {
    std::vector<RunId> part;
    for (std::size_t u = first; u < std::min(first + 29, units.size()); ++u)
      part.insert(part.end(), units[u].runs.begin(), units[u].runs.end());
    for (const int threads : {1, 3}) expect_same(trained(runs, part, threads), whole);
  }
}

TEST(SameBits, ForOddPartsOfTheSeedsAndRangesOfOnePair) {
  // Bundles that advance together and share their uniform numbers, or find other seeds beside them than in the whole.
  for (const int inputs : {2, 3}) {
    Plan plan = plan_of(40, 15);
    plan.options["inputs"] = std::to_string(inputs);
    plan.models = "NALU";
    plan.operations = "sub";
    plan.settings = "0,1,2,3,4";
    plan.seeds = {3, 0, 17, 4, 8, 1, 29, 31, 2, 100, 7};
    const Runs runs(plan);
    const std::vector<RunId>& all = runs.ids;
    const Records whole = trained(plan, 1);
    for (const int threads : {2, 3, 9}) expect_same(trained(plan, threads), whole);
    for (const std::size_t step : {2u, 3u, 5u, 12u}) {
      SCOPED_TRACE(step);
      std::vector<RunId> part;
      for (std::size_t k = step - 1; k < all.size(); k += step) part.push_back(all[k]);
      expect_same(trained(runs, part), whole);
    }
    for (const RunId& id : all)
      if (id.seed == 17 || id.seed == 7) expect_same({{runs.name(id), by_hand(runs.cell(id), id.seed)}}, whole);
  }
}

TEST(SameBits, OtherSeedsAndRangesGiveOthers) {  // otherwise the tests above prove nothing
  const Records records = trained(plan_of(25, 20));
  std::set<std::vector<std::vector<double>>> different;
  for (const auto& [name, record] : records) {
    EXPECT_FALSE(same_row(record, 0, record, record.rows() - 1)) << name;
    different.insert(record.parameters);
  }
  EXPECT_EQ(different.size(), records.size());
}

TEST(SameBits, HoweverOftenErrorsAreLogged) {
  Plan plan = plan_of(60, 20);
  plan.seeds = {0, 1};
  const Records records = trained(plan);
  for (const long log_every : {7L, 30L, 60L, 1000L}) {
    SCOPED_TRACE(log_every);
    plan.log_every = log_every;
    expect_same(trained(plan), records);
  }
}

// iNALU's re-initialisation looks at a validation error from iteration 5000 on, and at that of every 1000th iteration.
Plan inalu_plan() {
  Plan plan = plan_of(5300, 1000);
  plan.models = "iNALU";
  plan.operations = "add,mul";
  plan.settings = "8,6";
  plan.seeds = {0, 1, 2, 3};
  return plan;
}

TEST(SameBits, HoweverOftenErrorsAreLoggedForInaluToo) {
  Plan plan = inalu_plan();
  const Records records = trained(plan);
  for (const long log_every : {370L, 5300L}) {
    SCOPED_TRACE(log_every);
    plan.log_every = log_every;
    expect_same(trained(plan), records);
  }
}

// ---- against the engine, by hand -----------------------------------------------------------------------------------

struct Batch {
  AlignedVector<float> x, t;
  Batch(NumpyStream& stream, const SingleModuleProblem& problem, const Range& range, std::uint32_t seed, int rows) {
    const Samples samples = draw(stream, range, problem.pair.operation, problem.inputs,
                                 OperandPlace(seed, problem.inputs).first_operand, rows);
    x.assign(samples.x.begin(), samples.x.end());
    t.assign(samples.t.begin(), samples.t.end());
  }
};

float mean_squared_error(Network<float>& network, const Batch& rows) {
  constexpr int count = 10000, tile = 500;  // in the runner's order, so that sums round alike
  double total = 0;
  for (int row = 0; row < count; row += tile) {
    double sum = 0;
    network.squared_error(rows.x.data() + row * network.inputs(), rows.t.data() + row, tile, {&sum, 1});
    total += sum;
  }
  return static_cast<float>(total / count);
}

// One run alone in the only lane of the scalar target. Nothing is prepared or shared, and batches come from the plain
// stream.
RunRecord by_hand(const Cell& cell, std::uint32_t seed, bool renew) {
  const SingleModuleProblem& problem = problem_of(cell);
  const int batch = cell.recipe.training.batch;
  Bundle<float> bundle(cell.stack, cell.recipe, **simd::find_target("scalar"));
  const auto start = std::make_shared<TorchStream>(seed);
  bundle.start(0, start);
  bundle.start(0, start);
  NumpyStream batches(OperandPlace(seed, problem.inputs).train_seed), validation_stream(validation_seed),
      test_stream(test_seed);
  const Batch validation(validation_stream, problem, problem.range.train, seed, 10000),
      test(test_stream, problem, problem.range.test, seed, 10000);
  RunRecord record;
  Network<float>& network = bundle.network();
  for (long e = 0; e <= cell.iterations(); ++e) {
    const bool log = e % cell.log_every == 0 || e == cell.iterations();
    if (log || e % 1000 == 0) {
      network.update_weights();
      const float error = mean_squared_error(network, validation);
      if (e % 1000 == 0 && (renew || e == 0)) bundle.set_validation_error(0, static_cast<double>(error));
      if (log) {
        record.steps.push_back(e);
        record.values.push_back({static_cast<double>(error), static_cast<double>(mean_squared_error(network, test)),
                                 network.sparsity_error(0)});
        record.parameters.push_back(network.parameters(0, 0));
      }
    }
    const Batch drawn(batches, problem, problem.range.train, seed, batch);
    bundle.step(drawn.x.data(), drawn.t.data(), batch);
  }
  return record;
}

TEST(SameBits, AsABundleSteppedByHandWithoutSharedLogarithms) {
  for (const int inputs : {2, 3}) {
    Plan plan = plan_of(60, 25);
    plan.options["inputs"] = std::to_string(inputs);
    plan.settings = "6,4,[-3,5)";
    plan.options["test-range"] = "[-9,-7)+[7,9)";
    plan.seeds = {0, 1};  // with three inputs, their operands stand in different places
    std::set<std::string_view> prepared;
    const Records records = trained(plan);
    const Runs runs(plan);
    for (std::size_t k = 0; k < runs.ids.size(); ++k) {
      const RunId& id = runs.ids[k];
      const ModuleInfo& module = *problem_of(runs.cell(id)).pair.module;
      const bool shares = !module.prepared.empty();
      if (shares) prepared.insert(module.name);
      if (!shares && k % 3 != 0) continue;  // the others need no proof of every run
      SCOPED_TRACE(runs.name(id));
      expect_same({{runs.name(id), by_hand(runs.cell(id), id.seed)}}, records);
    }
    for (const char* name : {"NAC*", "NALU", "G-NALU", "iNALU"}) EXPECT_TRUE(prepared.contains(name)) << name;
  }
}

TEST(SameBits, AsAnInaluSteppedByHandThroughItsReinitialisation) {
  Plan plan = inalu_plan();
  plan.log_every = 5300;
  const Records records = trained(plan);
  int decided = 0;
  const Runs runs(plan);
  for (const RunId& id : runs.ids) {
    if (id.seed > 0) continue;
    SCOPED_TRACE(runs.name(id));
    const RunRecord record = by_hand(runs.cell(id), id.seed);
    expect_same({{runs.name(id), record}}, records);
    // Whoever keeps the first error for ever sees other re-initialisations.
    if (decided == 0) decided += !same_row(record, 1, by_hand(runs.cell(id), id.seed, false), 1);
  }
  EXPECT_GT(decided, 0) << "no run whose bits depend on when the validation error was renewed: this proves nothing";
}

TEST(Runner, ReproducesTheGoldenSeries) {
  // Validation error, test error and sparsity error that the reference software logged for seed 0; the rest of them
  // are in tests/train/golden_series_test.cpp.
  struct Golden {
    const char *module, *operation, *range;
    double rows[3][3];
  };
  const Golden golden[] = {
      {"NAU",
       "sub",
       "6",
       {{1.546296, 12.84465, 0.411523}, {0.149165, 2.487608, 0.0467057}, {0.0996915, 1.662357, 0.219430}}},
      {"iNALU",
       "mul",
       "4",
       {{1.746466, 294.6907, 0.457924}, {0.709209, 185.9764, 0.141881}, {0.182650, 61.93465, 0.149623}}},
  };
  for (const Golden& g : golden) {
    SCOPED_TRACE(g.module);
    Plan plan = plan_of(2000, 1000);
    plan.models = g.module;
    plan.operations = g.operation;
    plan.settings = g.range;
    plan.seeds = {0};
    const RunRecord record = trained(plan).begin()->second;
    ASSERT_EQ(record.rows(), 3u);
    for (std::size_t r = 0; r < 3; ++r) {
      const std::vector<double>& values = record.values[r];
      EXPECT_NEAR(values[single_module::validation_mse], g.rows[r][0], 1e-4 * g.rows[r][0]) << r;
      EXPECT_NEAR(values[single_module::test_mse], g.rows[r][1], 1e-4 * g.rows[r][1]) << r;
      EXPECT_NEAR(values[single_module::sparsity_error], g.rows[r][2], 1e-6) << r;
    }
  }
}

// ---- ends early ----------------------------------------------------------------------------------------------------

TEST(Runner, StopsEarlyAndGivesOnlyWholeRuns) {
  Plan plan = plan_of(30, 10);
  for (std::uint32_t seed = 5; seed < 12; ++seed) plan.seeds.push_back(seed);  // more places than any target has lanes
  const Runs runs(plan);
  const Records whole = trained(plan);
  std::stop_source stop;
  ExecutorSettings settings;
  settings.threads = 1;
  settings.stop = stop.get_token();
  Records stored;
  settings.finished = [&](const FinishedRuns& finished) -> Status {
    for (const FinishedRun& run : finished.runs) stored.emplace(runs.name(run.id), run.record);
    stop.request_stop();
    return Done{};
  };
  ASSERT_TRUE(train_single_modules(runs.cells, runs.ids, settings).ok());
  EXPECT_GT(stored.size(), 0u);
  EXPECT_LT(stored.size(), whole.size());
  expect_same(stored, whole);
}

TEST(Runner, StopsInTheMiddleOfRunsWithoutGivingThem) {
  const Runs runs(plan_of(1000000, 10));
  for (const int threads : {1, 2}) {
    std::stop_source stop;
    std::atomic<long> furthest = 0;
    ExecutorSettings settings;
    settings.threads = threads;
    settings.stop = stop.get_token();
    settings.logged = [&](const RunId&, const RunRecord& record) {
      furthest = std::max(furthest.load(), record.steps.back());
      if (record.steps.back() >= 20) stop.request_stop();
    };
    settings.finished = [](const FinishedRuns&) -> Status { return Error{"a run that is not whole"}; };
    const Status status = train_single_modules(runs.cells, runs.ids, settings);
    EXPECT_TRUE(status.ok()) << complaint(status);
    EXPECT_LE(furthest, 1000) << "it went on for long";
  }
}

TEST(Runner, AnErrorOfWhoStoresEndsEverything) {
  const Runs runs(plan_of(10, 10));
  for (const int threads : {1, 5}) {
    int calls = 0;
    ExecutorSettings settings;
    settings.threads = threads;
    settings.finished = [&](const FinishedRuns&) -> Status {
      ++calls;
      return Error{"the disk is full"};
    };
    EXPECT_EQ(complaint(train_single_modules(runs.cells, runs.ids, settings)), "the disk is full");
    EXPECT_EQ(calls, 1);
  }
}

TEST(Runner, RefusesWhatNoMemoryHolds) {
  Runs wide(plan_of(10, 10)), long_runs(plan_of(10, 1));
  ExecutorSettings settings;
  settings.threads = 2;
  settings.finished = [](const FinishedRuns&) -> Status { return Error{"called"}; };
  // More than a plan can ask for.
  for (Cell& cell : wide.cells) {
    const SingleModuleProblem& problem = problem_of(cell);
    cell.problem = std::make_shared<SingleModuleProblem>(problem.pair, problem.range, 10'000'000);
  }
  const std::string inputs = complaint(train_single_modules(wide.cells, wide.ids, settings));
  EXPECT_NE(inputs.find("10000000 inputs on 2 threads needs about"), std::string::npos) << inputs;
  EXPECT_NE(inputs.find("GB of memory"), std::string::npos) << inputs;
  for (Cell& cell : long_runs.cells) cell.recipe.training.iterations = 1'000'000'000'000;
  const std::string rows = complaint(train_single_modules(long_runs.cells, long_runs.ids, settings));
  EXPECT_NE(rows.find("log less often"), std::string::npos) << rows;
}

TEST(Runner, AWrongSimdTargetIsAnError) {
  const ForcedTarget forced("nonsense");
  ExecutorSettings settings;
  settings.finished = [](const FinishedRuns&) -> Status { return Done{}; };
  const Runs runs(plan_of(10, 10));
  EXPECT_NE(complaint(train_single_modules(runs.cells, runs.ids, settings)).find("nonsense"), std::string::npos);
}

}  // namespace
}  // namespace nalm::single_module_runner_test
