#include "bench/runner.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>

#include "base/threads.hpp"
#include "bench/lane_stream.hpp"
#include "train/bundle.hpp"

namespace nalm {
namespace {

using Clock = std::chrono::steady_clock;

// iNALU looks at a validation error that is renewed this often, however often errors are logged.
constexpr long renew_every = 1000;
constexpr int evaluation_rows = 10000;
// Rows that are evaluated for all pairs before the next ones: inputs and targets stay in the second-level cache.
constexpr int evaluation_tile = 500;
// Batches drawn ahead, in bytes: they stay in the second-level cache while every pair trains on them.
constexpr std::size_t ahead = 256 * 1024;

// A seed on a range: what decides the data of a run.
struct Place {
  TaskRange range;
  std::uint32_t seed = 0;
};

// Places in lanes, and the pairs that train on their data.
struct Task {
  std::vector<Place> places;
  std::vector<Pair> pairs;
};

bool looks_at_validation(const Recipe& recipe) {
  return recipe.training.reinitialise || recipe.training.restarts ||
         std::ranges::any_of(recipe.layers[0].regularisers,
                             [](const Regulariser& r) { return r.kind == Regulariser::Kind::Saturate; });
}

// What networks compute from their inputs alone (ModuleInfo::prepared), computed once for all that share it.
class Prepared {
 public:
  // Room for so many values, in lane layout, of everything that these networks prepare.
  void reserve(std::span<Bundle<float>* const> bundles, std::size_t values) {
    for (Bundle<float>* bundle : bundles) {
      const Network<float>& network = bundle->network();
      const std::string_view name = network.spec(0).module->prepared;
      if (network.has_prepared() && !find(name)) entries_.push_back({name, &network, AlignedVector<float>(values)});
    }
  }
  void compute(const float* x, int samples) {
    for (Entry& entry : entries_) entry.network->prepare(x, entry.values.data(), samples);
  }
  // Null where a network prepares nothing.
  const float* of(const Network<float>& network, std::size_t first_value) const {
    const Entry* entry = network.has_prepared() ? find(network.spec(0).module->prepared) : nullptr;
    return entry ? entry->values.data() + first_value : nullptr;
  }

 private:
  struct Entry {
    std::string_view name;
    const Network<float>* network;
    AlignedVector<float> values;
  };
  const Entry* find(std::string_view name) const {
    for (const Entry& entry : entries_)
      if (entry.name == name) return &entry;
    return nullptr;
  }
  std::vector<Entry> entries_;
};

// Ten thousand rows in lane layout. The stream's seed is the same for all runs.
class EvaluationSet {
 public:
  EvaluationSet(std::uint32_t stream_seed, const std::vector<Place>& places, bool test, int inputs,
                const std::vector<Operation>& operations, std::span<Bundle<float>* const> bundles) {
    lanes_ = places.size();
    inputs_ = static_cast<std::size_t>(inputs);
    x_.resize(evaluation_rows * inputs_ * lanes_);
    for (const Operation operation : operations) {
      t(operation).resize(evaluation_rows * lanes_);
      // Lanes with the same range and operands, and that is most of them, have the same rows.
      std::string drawn;
      Samples samples;
      for (std::size_t l = 0; l < lanes_; ++l) {
        const Range& range = test ? places[l].range.test : places[l].range.train;
        const int first_operand = OperandPlace(places[l].seed, inputs).first_operand;
        if (const std::string name = name_of(range) + " " + std::to_string(first_operand); name != drawn) {
          NumpyStream stream(stream_seed);
          samples = draw(stream, range, operation, inputs, first_operand, evaluation_rows);
          drawn = name;
        }
        if (operation == operations.front())
          for (std::size_t k = 0; k < samples.x.size(); ++k) x_[k * lanes_ + l] = samples.x[k];
        for (std::size_t k = 0; k < samples.t.size(); ++k) t(operation)[k * lanes_ + l] = samples.t[k];
      }
    }
    prepared_.reserve(bundles, x_.size());
    prepared_.compute(x_.data(), evaluation_rows);
  }

  const float* inputs(int row) const { return x_.data() + first_value(row); }
  const float* prepared(const Network<float>& network, int row) const {
    return prepared_.of(network, first_value(row));
  }
  const float* targets(Operation operation, int row) const {
    return t_[static_cast<std::size_t>(operation)].data() + static_cast<std::size_t>(row) * lanes_;
  }

 private:
  AlignedVector<float>& t(Operation operation) { return t_[static_cast<std::size_t>(operation)]; }
  std::size_t first_value(int row) const { return static_cast<std::size_t>(row) * inputs_ * lanes_; }

  std::size_t lanes_ = 0, inputs_ = 0;
  AlignedVector<float> x_;
  std::array<AlignedVector<float>, all_operations.size()> t_;
  Prepared prepared_;
};

// One pair in training.
struct Training {
  Pair pair;
  Recipe recipe;
  Bundle<float> bundle;
  std::vector<Series> series;  // per lane
  bool looks_at_validation;
  double seconds = 0;
  std::vector<double> validation, test;  // sums of squared errors, per lane, then their means
};

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Trains one task from start to end.
class TaskRun {
 public:
  TaskRun(const Grid& grid, const Task& task, const simd::Target& target, const RunnerSettings& settings)
      : inputs_(grid.inputs), log_every_(grid.log_every), task_(task), settings_(settings) {
    const std::size_t lanes = static_cast<std::size_t>(target.float_lanes);
    // Lanes that are left over repeat the last place; their results are dropped.
    places_ = task.places;
    places_.resize(lanes, places_.back());
    for (const Pair& pair : task.pairs) {
      if (std::find(operations_.begin(), operations_.end(), pair.operation) == operations_.end())
        operations_.push_back(pair.operation);
      const Recipe recipe = resolve_recipe(grid, pair);
      const Stack stack{{pair.module, default_shape(*pair.module, inputs_, 1)}};
      trainings_.push_back({pair, recipe, Bundle<float>(stack, recipe, target), std::vector<Series>(task.places.size()),
                            nalm::looks_at_validation(recipe), 0, std::vector<double>(lanes),
                            std::vector<double>(lanes)});
      for (std::size_t l = 0; l < lanes; ++l) {
        // The reference draws start values twice; the second draw counts.
        const auto stream = std::make_shared<TorchStream>(places_[l].seed);
        trainings_.back().bundle.start(static_cast<int>(l), stream);
        trainings_.back().bundle.start(static_cast<int>(l), stream);
      }
      last_ = std::max(last_, recipe.training.iterations);
      batch_ = recipe.training.batch;
    }
    const Clock::time_point start = Clock::now();
    std::vector<Bundle<float>*> bundles;
    for (Training& training : trainings_) bundles.push_back(&training.bundle);
    validation_.emplace(validation_seed, places_, false, inputs_, operations_, bundles);
    test_.emplace(test_seed, places_, true, inputs_, operations_, bundles);
    std::vector<LaneStream::Lane> streams;
    for (const Place& place : places_) streams.push_back({place.seed, place.range.train});
    stream_.emplace(target, streams, inputs_);

    const std::size_t rows = static_cast<std::size_t>(batch_) * lanes;
    chunk_ = std::max<long>(1, static_cast<long>(ahead / (rows * sizeof(float) *
                                                          (static_cast<std::size_t>(inputs_) + operations_.size()))));
    x_.resize(static_cast<std::size_t>(chunk_ * inputs_) * rows);
    prepared_.reserve(bundles, x_.size());
    for (const Operation operation : operations_)
      t_[static_cast<std::size_t>(operation)].resize(static_cast<std::size_t>(chunk_) * rows);
    timings_.data += since(start);
  }

  // progressed(iterations x runs) is called now and then; false from it ends the training.
  template <class F>
  bool train(F progressed) {
    const std::size_t lanes = places_.size(), rows = static_cast<std::size_t>(batch_) * lanes;
    for (long e = 0; e <= last_;) {
      evaluate(e);
      // Until the next evaluation, or as far as batches are drawn ahead.
      long count = std::min({chunk_, next_multiple(e, log_every_) - e, next_multiple(e, renew_every) - e});
      for (const Training& training : trainings_) {
        if (training.recipe.training.iterations >= e)
          count = std::min(count, std::max(1L, training.recipe.training.iterations - e));
      }
      Clock::time_point start = Clock::now();
      LaneStream::Targets targets{};
      for (const Operation operation : operations_)
        targets[static_cast<std::size_t>(operation)] = t_[static_cast<std::size_t>(operation)].data();
      stream_->next(static_cast<int>(count) * batch_, x_.data(), targets);
      timings_.data += since(start);
      start = Clock::now();
      prepared_.compute(x_.data(), static_cast<int>(count) * batch_);
      timings_.training += since(start);
      double steps = 0;
      for (Training& training : trainings_) {
        start = Clock::now();
        const long own = std::min(count, training.recipe.training.iterations + 1 - e);
        const float* t = t_[static_cast<std::size_t>(training.pair.operation)].data();
        for (long k = 0; k < own; ++k) {
          const std::size_t first = static_cast<std::size_t>(k * inputs_) * rows;
          training.bundle.step(x_.data() + first, t + static_cast<std::size_t>(k) * rows, batch_,
                               prepared_.of(training.bundle.network(), first));
        }
        const double seconds = since(start);
        training.seconds += seconds;
        timings_.training += seconds;
        if (own > 0) steps += static_cast<double>(own);
      }
      e += count;
      if (!progressed(steps * static_cast<double>(task_.places.size()))) return false;
    }
    return true;
  }

  FinishedRuns finish() {
    FinishedRuns finished;
    for (Training& training : trainings_) {
      for (std::size_t l = 0; l < task_.places.size(); ++l) {
        finished.runs.push_back({id_of(training, l), training.recipe, std::move(training.series[l])});
        finished.seconds.push_back(training.seconds / static_cast<double>(task_.places.size()));
      }
    }
    finished.timings = timings_;
    return finished;
  }

 private:
  RunId id_of(const Training& training, std::size_t lane) const {
    return {training.pair.module, training.pair.operation, places_[lane].range, inputs_, places_[lane].seed};
  }

  static long next_multiple(long e, long of) { return (e / of + 1) * of; }

  // Logs errors, and renews the validation error where a recipe looks at it, with the parameters before this
  // iteration's update.
  void evaluate(long e) {
    std::vector<Training*> validated, logged;
    for (Training& training : trainings_) {
      const long last = training.recipe.training.iterations;
      const bool log = e <= last && (e % log_every_ == 0 || e == last);
      if (log) logged.push_back(&training);
      if (log || (training.looks_at_validation && e % renew_every == 0 && e <= last)) validated.push_back(&training);
    }
    if (validated.empty()) return;
    const Clock::time_point start = Clock::now();
    for (Training* training : validated) training->bundle.network().update_weights();
    mean_squared_errors(*validation_, validated, &Training::validation);
    mean_squared_errors(*test_, logged, &Training::test);
    for (Training* training : validated) {
      if (e % renew_every != 0) continue;
      for (std::size_t l = 0; l < places_.size(); ++l)
        training->bundle.set_validation_error(static_cast<int>(l), static_cast<float>(training->validation[l]));
    }
    for (Training* training : logged) {
      for (std::size_t l = 0; l < task_.places.size(); ++l) {
        Series& series = training->series[l];
        const int lane = static_cast<int>(l);
        series.steps.push_back(e);
        series.validation_mse.push_back(static_cast<float>(training->validation[l]));
        series.test_mse.push_back(static_cast<float>(training->test[l]));
        series.sparsity_error.push_back(training->bundle.network().sparsity_error(lane));
        for (const double p : training->bundle.network().parameters(lane, 0))
          series.parameters.push_back(static_cast<float>(p));
        if (settings_.logged) settings_.logged(id_of(*training, l), series);
      }
    }
    timings_.evaluation += since(start);
  }

  void mean_squared_errors(const EvaluationSet& set, const std::vector<Training*>& trainings,
                           std::vector<double> Training::*result) {
    const std::size_t lanes = places_.size();
    std::vector<double> sums(lanes);
    for (Training* training : trainings) std::fill((training->*result).begin(), (training->*result).end(), 0.0);
    for (int row = 0; row < evaluation_rows; row += evaluation_tile) {
      for (Training* training : trainings) {
        Network<float>& network = training->bundle.network();
        network.squared_error(set.inputs(row), set.targets(training->pair.operation, row), evaluation_tile, sums,
                              set.prepared(network, row));
        for (std::size_t l = 0; l < lanes; ++l) (training->*result)[l] += sums[l];
      }
    }
    for (Training* training : trainings)
      for (double& value : training->*result) value /= evaluation_rows;
  }

  int inputs_, batch_ = 128;
  long log_every_, last_ = 0, chunk_ = 1;
  const Task& task_;
  const RunnerSettings& settings_;
  std::vector<Place> places_;
  std::vector<Operation> operations_;
  std::vector<Training> trainings_;
  std::optional<EvaluationSet> validation_, test_;
  std::optional<LaneStream> stream_;
  AlignedVector<float> x_;
  std::array<AlignedVector<float>, all_operations.size()> t_;
  Prepared prepared_;
  Timings timings_;
};

// Places with the same pairs left to do fill lanes together. What does not divide evenly among the threads is split by
// pairs, so that no thread waits long for another.
std::vector<Task> make_tasks(const std::vector<RunId>& runs, std::size_t lanes, std::size_t threads) {
  struct Group {
    std::vector<Pair> pairs;
    std::vector<Place> places;
  };
  std::vector<Group> groups;
  for (std::size_t k = 0; k < runs.size();) {
    const Place place{runs[k].range, runs[k].seed};
    std::vector<Pair> pairs;
    // Runs of one place stand together: runs_of() orders by range, seed, pair.
    for (; k < runs.size() && runs[k].seed == place.seed && name_of(runs[k].range.train) == name_of(place.range.train);
         ++k)
      pairs.push_back({runs[k].module, runs[k].operation});
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.pairs == pairs; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{pairs, {}});
    group->places.push_back(place);
  }
  std::vector<Task> tasks;
  for (const Group& group : groups) {
    for (std::size_t first = 0; first < group.places.size(); first += lanes) {
      const std::size_t count = std::min(lanes, group.places.size() - first);
      tasks.push_back({{group.places.begin() + static_cast<std::ptrdiff_t>(first),
                        group.places.begin() + static_cast<std::ptrdiff_t>(first + count)},
                       group.pairs});
    }
  }
  const std::size_t whole = tasks.size() / threads * threads;
  std::vector<Task> result(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(whole));
  for (std::size_t k = whole; k < tasks.size(); ++k) {
    std::vector<Task> parts(std::min(threads, tasks[k].pairs.size()), Task{tasks[k].places, {}});
    for (std::size_t p = 0; p < tasks[k].pairs.size(); ++p) parts[p % parts.size()].pairs.push_back(tasks[k].pairs[p]);
    result.insert(result.end(), parts.begin(), parts.end());
  }
  return result;
}

}  // namespace

Timings& Timings::operator+=(const Timings& other) {
  data += other.data;
  evaluation += other.evaluation;
  training += other.training;
  return *this;
}

Status train_runs(const Grid& grid, const std::vector<RunId>& runs, const RunnerSettings& settings) {
  if (runs.empty()) return Done{};
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  const int threads = settings.threads > 0 ? settings.threads : processor_count();
  const std::vector<Task> tasks =
      make_tasks(runs, static_cast<std::size_t>((*target)->float_lanes), static_cast<std::size_t>(threads));

  double total = 0;
  for (const Task& task : tasks)
    for (const Pair& pair : task.pairs)
      total += static_cast<double>(resolve_recipe(grid, pair).training.iterations + 1) *
               static_cast<double>(task.places.size());
  std::atomic<double> done = 0;
  std::atomic<bool> ended = false;
  std::mutex mutex;
  Status status = Done{};
  const auto progressed = [&](double steps) {
    const double now = done.fetch_add(steps, std::memory_order_relaxed) + steps;
    if (settings.progress) settings.progress->store(now / total, std::memory_order_relaxed);
    return !ended && !(settings.stop && *settings.stop);
  };
  parallel_for(static_cast<int>(tasks.size()), threads, [&](int k) {
    if (!progressed(0)) return;
    // Under the lock: nobody stores anything after the first error.
    const auto end_if_failed = [&](Status stored) {
      if (stored || ended) return;
      status = std::move(stored);
      ended = true;
    };
    try {
      TaskRun task(grid, tasks[static_cast<std::size_t>(k)], **target, settings);
      if (!task.train(progressed)) return;
      const FinishedRuns finished = task.finish();
      const std::lock_guard lock(mutex);
      if (!ended) end_if_failed(settings.finished(finished));
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock(mutex);
      end_if_failed(Error{"out of memory; use fewer threads or fewer inputs."});
    }
  });
  return status;
}

}  // namespace nalm
