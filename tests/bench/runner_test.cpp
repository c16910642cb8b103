// Every run gives the same bits, whatever runs beside it: threads, SIMD targets, other runs, other logging.
#include "bench/runner.hpp"

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
#include <string>
#include <tuple>
#include <vector>

#include "base/aligned.hpp"
#include "simd/dispatch.hpp"
#include "train/bundle.hpp"
#include "words.hpp"

namespace nalm {
namespace {

std::string name_of_run(const RunId& id) {
  return std::string(id.module->name) + " " + std::string(name_of(id.operation)) + " " + name_of(id.range.train) + " " +
         std::to_string(id.inputs) + " inputs, seed " + std::to_string(id.seed);
}

std::vector<Pair> pairs_of(std::string_view modules, std::string_view operations) {
  std::vector<std::string> skipped;
  return *make_pairs(*parse_modules(modules), *parse_operations(operations), skipped);
}

// The paper's 23 pairs on two ranges. Five seeds on each: more places than the widest usual target has lanes, and not a
// multiple of them.
Grid grid_of(long iterations, long log_every) {
  const Preset& primer = **find_preset("primer");
  Grid grid;
  grid.pairs = pairs_of(primer.modules, primer.operations);
  grid.ranges = {paper_ranges()[6], paper_ranges()[4]};
  grid.seeds = {0, 1, 2, 3, 4};
  grid.iterations = iterations;
  grid.log_every = log_every;
  return grid;
}

using Results = std::map<std::string, Series>;

Results trained(const Grid& grid, const std::vector<RunId>& runs, int threads = 2) {
  Results results;
  RunnerSettings settings;
  settings.threads = threads;
  settings.finished = [&](const FinishedRuns& finished) -> Status {
    EXPECT_EQ(finished.seconds.size(), finished.runs.size());
    for (const Run& run : finished.runs) {
      EXPECT_EQ(to_json(run.recipe), to_json(resolve_recipe(grid, {run.id.module, run.id.operation})));
      EXPECT_TRUE(results.emplace(name_of_run(run.id), run.series).second) << name_of_run(run.id) << " came twice";
    }
    return Done{};
  };
  const Status status = train_runs(grid, runs, settings);
  EXPECT_TRUE(status.ok()) << complaint(status);
  EXPECT_EQ(results.size(), runs.size());
  for (const RunId& id : runs) EXPECT_TRUE(results.contains(name_of_run(id))) << name_of_run(id);
  return results;
}

Results trained(const Grid& grid, int threads = 2) { return trained(grid, runs_of(grid), threads); }

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Row r of a is row s of b.
bool same_row(const Series& a, std::size_t r, const Series& b, std::size_t s) {
  const std::size_t width = a.parameters.size() / a.rows();
  if (width != b.parameters.size() / b.rows()) return false;
  for (std::size_t p = 0; p < width; ++p)
    if (!same(a.parameters[r * width + p], b.parameters[s * width + p])) return false;
  return same(a.validation_mse[r], b.validation_mse[s]) && same(a.test_mse[r], b.test_mse[s]) &&
         same(a.sparsity_error[r], b.sparsity_error[s]);
}

// Every run of part is the run of the same name in whole; rows of the same step are compared, and the last one is.
void expect_same(const Results& part, const Results& whole) {
  for (const auto& [name, series] : part) {
    ASSERT_TRUE(whole.contains(name)) << name;
    const Series& other = whole.at(name);
    ASSERT_EQ(series.steps.back(), other.steps.back()) << name;
    std::size_t common = 0;
    for (std::size_t r = 0; r < series.rows(); ++r) {
      const auto at = std::find(other.steps.begin(), other.steps.end(), series.steps[r]);
      if (at == other.steps.end()) continue;
      ++common;
      ASSERT_TRUE(same_row(series, r, other, static_cast<std::size_t>(at - other.steps.begin())))
          << name << " at step " << series.steps[r];
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
    Grid grid = grid_of(iterations, log_every);
    grid.pairs = pairs_of("NAU,iNALU", "add");
    grid.ranges.resize(1);
    grid.seeds = {5};
    for (const auto& [name, series] : trained(grid)) {
      EXPECT_EQ(series.steps, steps) << name;
      EXPECT_EQ(series.validation_mse.size(), steps.size());
      EXPECT_EQ(series.test_mse.size(), steps.size());
      EXPECT_EQ(series.sparsity_error.size(), steps.size());
      const ModuleInfo& module = **find_module(name.starts_with("NAU") ? "NAU" : "iNALU");
      EXPECT_EQ(series.parameters.size(),
                steps.size() * static_cast<std::size_t>(parameter_count(module, default_shape(module, 2, 1))));
    }
  }
}

TEST(Runner, ItsFirstRowHasTheStartValues) {
  // A row shows the parameters before the iteration of that number.
  Grid grid = grid_of(0, 1);
  grid.pairs = pairs_of("NAU", "add");
  grid.ranges.resize(1);
  grid.seeds = {0};
  const Series none = trained(grid).begin()->second;
  grid.iterations = 1;
  const Series one = trained(grid).begin()->second;
  EXPECT_TRUE(same_row(none, 0, one, 0));
  EXPECT_FALSE(same_row(none, 0, one, 1));
}

TEST(Runner, TellsWhoWatchesEveryRow) {
  Grid grid = grid_of(20, 10);
  grid.pairs = pairs_of("NAU,NMU", "add,mul");
  std::map<std::string, std::vector<std::size_t>> rows;
  std::mutex mutex;
  std::atomic<double> progress = 0;
  RunnerSettings settings;
  settings.threads = 2;
  settings.progress = &progress;
  settings.logged = [&](const RunId& id, const Series& series) {
    const std::lock_guard lock(mutex);
    rows[name_of_run(id)].push_back(series.rows());
  };
  settings.finished = [](const FinishedRuns&) -> Status { return Done{}; };
  ASSERT_TRUE(train_runs(grid, runs_of(grid), settings).ok());
  EXPECT_EQ(rows.size(), grid.run_count());
  for (const auto& [name, seen] : rows) EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3})) << name;
  EXPECT_NEAR(progress, 1, 1e-9);
}

TEST(Runner, HasNothingToDoWithoutRuns) {
  RunnerSettings settings;
  settings.finished = [](const FinishedRuns&) -> Status { return Error{"called"}; };
  EXPECT_TRUE(train_runs(grid_of(10, 10), {}, settings).ok());
}

Series by_hand(const Grid& grid, const RunId& id, bool renew = true);  // below

// ---- same bits -----------------------------------------------------------------------------------------------------

TEST(SameBits, ForAnyNumberOfThreads) {
  const Grid grid = grid_of(30, 20);
  const Results one = trained(grid, 1);
  for (const int threads : {2, 5}) {
    SCOPED_TRACE(threads);
    expect_same(trained(grid, threads), one);
  }
}

TEST(SameBits, ForEverySimdTarget) {
  const Grid grid = grid_of(25, 20);
  std::optional<Results> first;
  std::set<std::string_view> seen;
  for (const simd::Target& target : simd::targets()) {
    if (!target.supported) continue;
    SCOPED_TRACE(target.name);
    const ForcedTarget forced(target.name);
    ASSERT_EQ(simd::choose_target().value()->name, target.name);
    const Results results = trained(grid);
    if (first) expect_same(results, *first);
    if (!first) first = results;
    seen.insert(target.name);
  }
  if (seen.size() < 2) GTEST_SKIP() << "one target proves nothing";
}

TEST(SameBits, ForEverySimdTargetAndThreadsWithMoreInputs) {
  for (const int inputs : {3, 10}) {
    Grid grid = grid_of(12, 10);
    grid.inputs = inputs;
    grid.pairs = pairs_of("NAC*,NALU,iNALU,NAU,NMU,NPU", "sub,mul");
    grid.seeds = {0, 1, 2};  // whose operands stand in different places
    std::optional<Results> first;
    int threads = 1;
    for (const simd::Target& target : simd::targets()) {
      if (!target.supported) continue;
      SCOPED_TRACE(std::string(target.name) + ", " + std::to_string(inputs) + " inputs");
      const ForcedTarget forced(target.name);
      const Results results = trained(grid, threads++);
      if (first) expect_same(results, *first);
      if (!first) first = results;
    }
  }
}

TEST(SameBits, ForAnyPartOfTheRuns) {
  const Grid grid = grid_of(25, 20);
  const std::vector<RunId> all = runs_of(grid);
  const Results whole = trained(grid);
  for (const std::size_t k : {std::size_t{0}, std::size_t{57}, all.size() - 1})
    expect_same(trained(grid, {all[k]}), whole);
  // What an interruption leaves: holes.
  for (const unsigned step : {3u, 7u, 23u, 24u}) {
    std::vector<RunId> part;
    for (std::size_t k = step / 2; k < all.size(); k += step) part.push_back(all[k]);
    SCOPED_TRACE(step);
    expect_same(trained(grid, part), whole);
  }
  const std::vector<RunId> end(all.end() - 40, all.end());
  expect_same(trained(grid, end, 5), whole);
}

TEST(SameBits, ForOddPartsOfTheSeedsAndRangesOfOnePair) {
  // Bundles that advance together and share their uniform numbers, or find other seeds beside them than in the whole.
  for (const int inputs : {2, 3}) {
    Grid grid = grid_of(40, 15);
    grid.inputs = inputs;
    grid.pairs = pairs_of("NALU", "sub");
    const auto ranges = paper_ranges();
    grid.ranges = {ranges.begin(), ranges.begin() + 5};
    grid.seeds = {3, 0, 17, 4, 8, 1, 29, 31, 2, 100, 7};
    const std::vector<RunId> all = runs_of(grid);
    const Results whole = trained(grid, 1);
    for (const int threads : {2, 3, 9}) expect_same(trained(grid, threads), whole);
    for (const std::size_t step : {2u, 3u, 5u, 12u}) {
      SCOPED_TRACE(step);
      std::vector<RunId> part;
      for (std::size_t k = step - 1; k < all.size(); k += step) part.push_back(all[k]);
      expect_same(trained(grid, part), whole);
    }
    for (const RunId& id : all)
      if (id.seed == 17 || id.seed == 7) expect_same({{name_of_run(id), by_hand(grid, id)}}, whole);
  }
}

TEST(SameBits, OtherSeedsAndRangesGiveOthers) {  // otherwise the tests above prove nothing
  const Results results = trained(grid_of(25, 20));
  std::set<std::vector<float>> different;
  for (const auto& [name, series] : results) {
    EXPECT_FALSE(same_row(series, 0, series, series.rows() - 1)) << name;
    different.insert(series.parameters);
  }
  EXPECT_EQ(different.size(), results.size());
}

TEST(SameBits, HoweverOftenErrorsAreLogged) {
  Grid grid = grid_of(60, 20);
  grid.seeds = {0, 1};
  const Results results = trained(grid);
  for (const long log_every : {7L, 30L, 60L, 1000L}) {
    SCOPED_TRACE(log_every);
    grid.log_every = log_every;
    expect_same(trained(grid), results);
  }
}

// iNALU's re-initialisation looks at a validation error from iteration 5000 on, and at that of every 1000th iteration.
Grid inalu_grid() {
  Grid grid = grid_of(5300, 1000);
  grid.pairs = pairs_of("iNALU", "add,mul");
  grid.ranges = {paper_ranges()[8], paper_ranges()[6]};
  grid.seeds = {0, 1, 2, 3};
  return grid;
}

TEST(SameBits, HoweverOftenErrorsAreLoggedForInaluToo) {
  Grid grid = inalu_grid();
  const Results results = trained(grid);
  for (const long log_every : {370L, 5300L}) {
    SCOPED_TRACE(log_every);
    grid.log_every = log_every;
    expect_same(trained(grid), results);
  }
}

// ---- against the engine, by hand -----------------------------------------------------------------------------------

struct Rows {
  AlignedVector<float> x, t;
  Rows(NumpyStream& stream, const RunId& id, const Range& range, int rows) {
    const Samples samples =
        draw(stream, range, id.operation, id.inputs, OperandPlace(id.seed, id.inputs).first_operand, rows);
    x.assign(samples.x.begin(), samples.x.end());
    t.assign(samples.t.begin(), samples.t.end());
  }
};

float mean_squared_error(Network<float>& network, const Rows& rows) {
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
Series by_hand(const Grid& grid, const RunId& id, bool renew) {
  const Recipe recipe = resolve_recipe(grid, {id.module, id.operation});
  const Stack stack{{id.module, default_shape(*id.module, id.inputs, 1)}};
  StackRecipe whole{recipe, {recipe.regularisers}};
  whole.whole.regularisers.clear();
  Bundle<float> bundle(stack, whole, **simd::find_target("scalar"));
  const auto start = std::make_shared<TorchStream>(id.seed);
  bundle.start(0, start);
  bundle.start(0, start);
  NumpyStream batches(OperandPlace(id.seed, id.inputs).train_seed), validation_stream(validation_seed),
      test_stream(test_seed);
  const Rows validation(validation_stream, id, id.range.train, 10000), test(test_stream, id, id.range.test, 10000);
  Series series;
  Network<float>& network = bundle.network();
  for (long e = 0; e <= recipe.iterations; ++e) {
    const bool log = e % grid.log_every == 0 || e == recipe.iterations;
    if (log || e % 1000 == 0) {
      network.update_weights();
      const float error = mean_squared_error(network, validation);
      if (e % 1000 == 0 && (renew || e == 0)) bundle.set_validation_error(0, static_cast<double>(error));
      if (log) {
        series.steps.push_back(e);
        series.validation_mse.push_back(error);
        series.test_mse.push_back(mean_squared_error(network, test));
        series.sparsity_error.push_back(network.sparsity_error(0));
        for (const double p : network.parameters(0, 0)) series.parameters.push_back(static_cast<float>(p));
      }
    }
    const Rows batch(batches, id, id.range.train, recipe.batch);
    bundle.step(batch.x.data(), batch.t.data(), recipe.batch);
  }
  return series;
}

TEST(SameBits, AsABundleSteppedByHandWithoutSharedLogarithms) {
  for (const int inputs : {2, 3}) {
    Grid grid = grid_of(60, 25);
    grid.inputs = inputs;
    grid.ranges.push_back({{-3, 5, {}}, {-9, -7, Range::Part{7, 9}}});
    grid.seeds = {0, 1};  // with three inputs, their operands stand in different places
    std::set<std::string_view> prepared;
    const Results results = trained(grid);
    const std::vector<RunId> all = runs_of(grid);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const bool shares = !all[k].module->prepared.empty();
      if (shares) prepared.insert(all[k].module->name);
      if (!shares && k % 3 != 0) continue;  // the others need no proof of every run
      SCOPED_TRACE(name_of_run(all[k]));
      expect_same({{name_of_run(all[k]), by_hand(grid, all[k])}}, results);
    }
    for (const char* name : {"NAC*", "NALU", "G-NALU", "iNALU"}) EXPECT_TRUE(prepared.contains(name)) << name;
  }
}

TEST(SameBits, AsAnInaluSteppedByHandThroughItsReinitialisation) {
  Grid grid = inalu_grid();
  grid.log_every = 5300;
  const Results results = trained(grid);
  int decided = 0;
  for (const RunId& id : runs_of(grid)) {
    if (id.seed > 0) continue;
    SCOPED_TRACE(name_of_run(id));
    const Series series = by_hand(grid, id);
    expect_same({{name_of_run(id), series}}, results);
    // Whoever keeps the first error for ever sees other re-initialisations.
    if (decided == 0) decided += !same_row(series, 1, by_hand(grid, id, false), 1);
  }
  EXPECT_GT(decided, 0) << "no run whose bits depend on when the validation error was renewed: this proves nothing";
}

TEST(Runner, ReproducesTheGoldenSeries) {
  // Validation error, test error and sparsity error that the reference software logged for seed 0; the rest of them
  // are in tests/train/golden_series_test.cpp.
  struct Golden {
    const char *module, *operation;
    std::size_t range;
    double rows[3][3];
  };
  const Golden golden[] = {
      {"NAU",
       "sub",
       6,
       {{1.546296, 12.84465, 0.411523}, {0.149165, 2.487608, 0.0467057}, {0.0996915, 1.662357, 0.219430}}},
      {"iNALU",
       "mul",
       4,
       {{1.746466, 294.6907, 0.457924}, {0.709209, 185.9764, 0.141881}, {0.182650, 61.93465, 0.149623}}},
  };
  for (const Golden& g : golden) {
    SCOPED_TRACE(g.module);
    Grid grid = grid_of(2000, 1000);
    grid.pairs = pairs_of(g.module, g.operation);
    grid.ranges = {paper_ranges()[g.range]};
    grid.seeds = {0};
    const Series series = trained(grid).begin()->second;
    ASSERT_EQ(series.rows(), 3u);
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_NEAR(series.validation_mse[r], g.rows[r][0], 1e-4 * g.rows[r][0]) << r;
      EXPECT_NEAR(series.test_mse[r], g.rows[r][1], 1e-4 * g.rows[r][1]) << r;
      EXPECT_NEAR(series.sparsity_error[r], g.rows[r][2], 1e-6) << r;
    }
  }
}

// ---- ends early ----------------------------------------------------------------------------------------------------

TEST(Runner, StopsEarlyAndGivesOnlyWholeRuns) {
  const Grid grid = grid_of(30, 10);
  const Results whole = trained(grid);
  std::atomic<bool> stop = false;
  RunnerSettings settings;
  settings.threads = 1;
  settings.stop = &stop;
  Results stored;
  settings.finished = [&](const FinishedRuns& finished) -> Status {
    for (const nalm::Run& run : finished.runs) stored.emplace(name_of_run(run.id), run.series);
    stop = true;
    return Done{};
  };
  ASSERT_TRUE(train_runs(grid, runs_of(grid), settings).ok());
  EXPECT_GT(stored.size(), 0u);
  EXPECT_LT(stored.size(), whole.size());
  expect_same(stored, whole);
}

TEST(Runner, StopsInTheMiddleOfRunsWithoutGivingThem) {
  const Grid grid = grid_of(1000000, 10);
  for (const int threads : {1, 2}) {
    std::atomic<bool> stop = false;
    std::atomic<long> furthest = 0;
    RunnerSettings settings;
    settings.threads = threads;
    settings.stop = &stop;
    settings.logged = [&](const RunId&, const Series& series) {
      furthest = std::max(furthest.load(), series.steps.back());
      if (series.steps.back() >= 20) stop = true;
    };
    settings.finished = [](const FinishedRuns&) -> Status { return Error{"a run that is not whole"}; };
    const Status status = train_runs(grid, runs_of(grid), settings);
    EXPECT_TRUE(status.ok()) << complaint(status);
    EXPECT_LE(furthest, 1000) << "it went on for long";
  }
}

TEST(Runner, AnErrorOfWhoStoresEndsEverything) {
  const Grid grid = grid_of(10, 10);
  for (const int threads : {1, 5}) {
    int calls = 0;
    RunnerSettings settings;
    settings.threads = threads;
    settings.finished = [&](const FinishedRuns&) -> Status {
      ++calls;
      return Error{"the disk is full"};
    };
    EXPECT_EQ(complaint(train_runs(grid, runs_of(grid), settings)), "the disk is full");
    EXPECT_EQ(calls, 1);
  }
}

TEST(Runner, RefusesWhatNoMemoryHolds) {
  Grid grid = grid_of(10, 10);
  RunnerSettings settings;
  settings.threads = 2;
  settings.finished = [](const FinishedRuns&) -> Status { return Error{"called"}; };
  grid.inputs = 10'000'000;
  const std::string inputs = complaint(train_runs(grid, runs_of(grid), settings));
  EXPECT_NE(inputs.find("10000000 inputs on 2 threads needs about"), std::string::npos) << inputs;
  EXPECT_NE(inputs.find("GB of memory"), std::string::npos) << inputs;
  grid.inputs = 2;
  grid.iterations = 1'000'000'000'000;
  grid.log_every = 1;
  const std::string rows = complaint(train_runs(grid, runs_of(grid), settings));
  EXPECT_NE(rows.find("log less often"), std::string::npos) << rows;
}

TEST(Runner, AWrongSimdTargetIsAnError) {
  const ForcedTarget forced("nonsense");
  RunnerSettings settings;
  settings.finished = [](const FinishedRuns&) -> Status { return Done{}; };
  const Grid grid = grid_of(10, 10);
  EXPECT_NE(complaint(train_runs(grid, runs_of(grid), settings)).find("nonsense"), std::string::npos);
}

}  // namespace
}  // namespace nalm
