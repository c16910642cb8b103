#include "tasks/single_module/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/memory.hpp"
#include "experiment/session.hpp"
#include "tasks/single_module/lane_stream.hpp"
#include "tasks/single_module/problem.hpp"
#include "tasks/single_module/seed_streams.hpp"
#include "train/bundle.hpp"

namespace nalm {
namespace {

using Clock = std::chrono::steady_clock;

// iNALU looks at a validation error that is renewed this often, however often errors are logged.
constexpr long renew_every = 1000;
constexpr int evaluation_rows = 10000;
// Rows that are evaluated for all pairs before the next ones: inputs and targets stay in the second-level cache.
constexpr int evaluation_tile = 500;
// Numbers drawn ahead and what is made of them, in bytes: they stay in the second-level cache while every bundle
// trains.
constexpr std::size_t ahead = 512 * 1024;
// Fewer pairs than this train on one batch at a time, which stays in the first-level cache; more would not find their
// own numbers and code there.
constexpr std::size_t few_pairs = 4;
// Bundles times pairs that advance together. More would hardly draw less, and an interruption loses what is in flight.
constexpr std::size_t together = 32;
// Nor do more bundles advance together than fit into this, in bytes, or into half of a thread's share of the memory.
constexpr double task_memory = 256e6;

// A seed on a range: what decides the data of a run.
struct Place {
  TaskRange range;
  std::uint32_t seed = 0;
};

std::size_t round_up_quotient(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

// Finds cells by what decides them. All cells of a pair have the same recipe.
class Cells {
 public:
  explicit Cells(const std::vector<Cell>& cells) : cells_(cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) positions_[key(problem_of(cells[c]).pair, cells[c].setting)] = c;
  }
  std::size_t position(const Pair& pair, const TaskRange& range) const {
    return positions_.at(key(pair, name_of(range.train)));
  }
  const Cell& of(const Pair& pair) const { return cells_[positions_.lower_bound(key(pair, ""))->second]; }
  int inputs() const { return problem_of(cells_.front()).inputs; }
  long log_every() const { return cells_.front().log_every; }

 private:
  using Key = std::tuple<const ModuleInfo*, Operation, std::string>;
  static Key key(const Pair& pair, std::string range) { return {pair.module, pair.operation, std::move(range)}; }
  const std::vector<Cell>& cells_;
  std::map<Key, std::size_t> positions_;
};

// Where the time went, summed over threads.
struct Timings {
  double data = 0;        // batches drawn
  double evaluation = 0;  // validation and test errors
  double training = 0;
};

// Places in lanes, bundle by bundle, and the pairs that train on their data. All of them advance together, so that
// uniform numbers are drawn once for all bundles.
struct Work {
  std::vector<std::uint32_t> seeds;         // the lanes of all bundles, one after the other, go round them
  std::vector<std::vector<Place>> bundles;  // all are full but for the last
  std::vector<Pair> pairs;
};

bool looks_at_validation(const Recipe& recipe) {
  return recipe.training.reinitialise || recipe.training.restarts ||
         std::ranges::any_of(recipe.layers, [](const LayerRecipe& layer) {
           return std::ranges::any_of(layer.regularisers,
                                      [](const Regulariser& r) { return r.kind == Regulariser::Kind::Saturate; });
         });
}

// What networks compute from their inputs alone (ModuleInfo::prepared), computed once for all that share it.
class Prepared {
 public:
  // Room for so many values of everything that these networks prepare.
  void reserve(std::span<Bundle<float>* const> bundles, std::size_t values) {
    for (Bundle<float>* bundle : bundles) {
      const Network<float>& network = bundle->network();
      const std::string_view name = network.spec(0).module->prepared;
      if (network.has_prepared() && !find(name)) entries_.push_back({name, &network, AlignedVector<float>(values)});
    }
  }
  void compute(const float* x, int samples, bool finite) {
    for (Entry& entry : entries_) entry.network->prepare(x, entry.values.data(), samples, finite);
  }
  // Null where a network prepares nothing.
  const float* of(const Network<float>& network, std::size_t first_value) const {
    const Entry* entry = network.has_prepared() ? find(network.spec(0).module->prepared) : nullptr;
    return entry ? entry->values.data() + first_value : nullptr;
  }
  std::size_t size() const { return entries_.size(); }
  AlignedVector<float>& values(std::size_t k) { return entries_[k].values; }
  const AlignedVector<float>& values(std::size_t k) const { return entries_[k].values; }

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

// Inputs, what networks prepare of them, and the targets of some operations.
struct Rows {
  AlignedVector<float> x;
  Prepared prepared;
  std::array<AlignedVector<float>, all_operations.size()> t;

  AlignedVector<float>& targets(Operation operation) { return t[static_cast<std::size_t>(operation)]; }

  void reserve(std::size_t rows, int inputs, const std::vector<Operation>& operations,
               std::span<Bundle<float>* const> bundles) {
    x.resize(rows * static_cast<std::size_t>(inputs));
    prepared.reserve(bundles, x.size());
    for (const Operation operation : operations) targets(operation).resize(rows);
  }
};

// Ten thousand rows, from a stream whose seed is the same for all runs: range and operands decide them, so most lanes
// have the same rows. They are kept once, for all threads; in lane layout the rows of a pair would not fit into the
// caches, and a pair by itself would wait for them. Thousands of inputs take a while to draw: where somebody wants to
// stop, rows are not complete, and nobody looks at them.
class EvaluationRows {
 public:
  using Shared = std::shared_ptr<const Rows>;
  Shared get(const Range& range, int first_operand, bool test, int inputs, const std::vector<Operation>& operations,
             std::span<Bundle<float>* const> bundles, std::size_t lanes, const std::stop_token& stop) {
    // In the order in which they are kept.
    std::vector<std::string_view> prepared;
    for (Bundle<float>* bundle : bundles) {
      const std::string_view name = bundle->network().spec(0).module->prepared;
      if (std::ranges::find(prepared, name) == prepared.end()) prepared.push_back(name);
    }
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<const Rows>& known = known_[{test, operations, std::move(prepared), name_of(range), first_operand}];
    Shared rows = known.lock();
    if (rows) return rows;
    const auto drawn = std::make_shared<Rows>();
    // Kernels prepare whole samples in lane layout, but each value by itself: these lanes hold row after row.
    const std::size_t samples = round_up_quotient(evaluation_rows, lanes);
    drawn->reserve(samples * lanes, inputs, operations, bundles);
    for (const Operation operation : operations) {
      if (stop.stop_requested()) break;
      NumpyStream stream(test ? test_seed : validation_seed);
      const Samples of_operation = draw(stream, range, operation, inputs, first_operand, evaluation_rows);
      std::ranges::copy(of_operation.x, drawn->x.begin());
      std::ranges::copy(of_operation.t, drawn->targets(operation).begin());
    }
    drawn->prepared.compute(drawn->x.data(), static_cast<int>(samples), false);
    known = rows = drawn;
    return rows;
  }

 private:
  using Key = std::tuple<bool, std::vector<Operation>, std::vector<std::string_view>, std::string, int>;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Rows>> known_;
};

// The rows that the lanes of a bundle are evaluated on.
class EvaluationSet {
 public:
  EvaluationSet(const std::vector<Place>& places, bool test, int inputs, const std::vector<Operation>& operations,
                std::span<Bundle<float>* const> bundles, EvaluationRows& rows, const std::stop_token& stop)
      : inputs_(static_cast<std::size_t>(inputs)), source_(places.size()) {
    for (std::size_t l = 0; l < places.size(); ++l) {
      const EvaluationRows::Shared own = rows.get(test ? places[l].range.test : places[l].range.train,
                                                  OperandPlace(places[l].seed, inputs).first_operand, test, inputs,
                                                  operations, bundles, places.size(), stop);
      const auto known = std::ranges::find(sources_, own);
      source_[l] = static_cast<std::int32_t>(known - sources_.begin());
      if (known == sources_.end()) sources_.push_back(own);
    }
  }

  // So many rows, in lane layout.
  void read(const StreamKernels& kernels, std::size_t first, std::size_t rows, Rows& into) const {
    const auto spread = [&](std::size_t per_row, auto values_of) {
      std::vector<const float*> sources;
      for (const EvaluationRows::Shared& source : sources_) sources.push_back(values_of(*source) + first * per_row);
      kernels.spread(sources.data(), sources.size(), source_.data(), rows * per_row, values_of(into));
    };
    spread(inputs_, [](auto& r) { return r.x.data(); });
    for (std::size_t k = 0; k < into.prepared.size(); ++k)
      spread(inputs_, [k](auto& r) { return r.prepared.values(k).data(); });
    for (std::size_t k = 0; k < into.t.size(); ++k)
      if (!into.t[k].empty()) spread(1, [k](auto& r) { return r.t[k].data(); });
  }

 private:
  std::size_t inputs_;
  std::vector<EvaluationRows::Shared> sources_;  // different ones
  AlignedVector<std::int32_t> source_;           // of every lane
};

// One pair in training, in one bundle.
struct Training {
  Pair pair;
  long iterations;
  Bundle<float> bundle;
  std::vector<RunRecord> records;  // per lane
  bool looks_at_validation;
  double seconds = 0;
  std::vector<double> validation, test;  // sums of squared errors, per lane, then their means
};

// All pairs in training on the data of the same places.
struct PlacesInTraining {
  std::vector<Place> places;  // one per lane; those beyond runs repeat the last, and their results are dropped
  std::size_t runs;           // of each pair
  LaneStream batches;
  std::size_t first_number;  // of the first lane, in a row of the streams
  bool finite;               // all inputs, as float
  std::vector<Training> trainings;
  EvaluationSet validation, test;
};

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Seconds from lap to lap, times a factor; a clock that is not on says 0 without looking.
class Stopwatch {
 public:
  Stopwatch(bool on, double factor) : on_(on), factor_(factor) {
    if (on_) start_ = Clock::now();
  }
  double lap() {
    if (!on_) return 0;
    const Clock::time_point now = Clock::now();
    return factor_ * std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  bool on_;
  double factor_;
  Clock::time_point start_;
};

// Trains one piece of work from start to end.
class WorkRun {
 public:
  WorkRun(const Cells& cells, const Work& work, const simd::Target& target, const ExecutorSettings& settings,
          EvaluationRows& evaluation)
      : cells_(cells),
        inputs_(cells.inputs()),
        log_every_(cells.log_every()),
        lanes_(static_cast<std::size_t>(target.float_lanes)),
        work_(work),
        settings_(settings),
        kernels_(stream_kernels(target.index)),
        evaluation_(evaluation),
        streams_(streams_of(work, target)) {
    for (const Pair& pair : work.pairs) {
      if (std::find(operations_.begin(), operations_.end(), pair.operation) == operations_.end())
        operations_.push_back(pair.operation);
    }
    for (const std::vector<Place>& places : work.bundles) {
      if (stopped()) return;
      add(places, target);
    }
    const std::size_t batch = static_cast<std::size_t>(batch_), inputs = static_cast<std::size_t>(inputs_);
    const std::size_t bytes =
        batch * (inputs * streams_.row() * sizeof(double) + (inputs + operations_.size()) * lanes_ * sizeof(float));
    chunk_ = std::max(1L, static_cast<long>(ahead / bytes));
    tile_ = work.pairs.size() < few_pairs ? 1 : chunk_;
    numbers_.resize(static_cast<std::size_t>(chunk_) * batch * inputs * streams_.row());
    const std::vector<Bundle<float>*> bundles = bundles_of(places_.front().trainings);
    batches_.reserve(static_cast<std::size_t>(tile_) * batch * lanes_, inputs_, operations_, bundles);
    evaluated_.reserve(evaluation_tile * lanes_, inputs_, operations_, bundles);
  }

  // progressed(iterations x runs) is called now and then; false from it ends the training.
  template <class F>
  bool train(F progressed) {
    if (stopped()) return false;  // before the work was complete
    LaneStream::Targets targets{};
    for (const Operation operation : operations_)
      targets[static_cast<std::size_t>(operation)] = batches_.targets(operation).data();
    for (long e = 0; e <= last_;) {
      for (PlacesInTraining& places : places_)
        if (!evaluate(places, e)) return false;
      // Until the next evaluation, or as far as batches are drawn ahead.
      long count = std::min({chunk_, next_multiple(e, log_every_) - e, next_multiple(e, renew_every) - e});
      for (const Training& training : places_.front().trainings) {
        if (training.iterations >= e) count = std::min(count, std::max(1L, training.iterations - e));
      }
      const Clock::time_point start = Clock::now();
      streams_.draw(static_cast<int>(count) * batch_ * inputs_, numbers_.data());
      timings_.data += since(start);
      double steps = 0;
      for (PlacesInTraining& places : places_) {
        const double* numbers = numbers_.data() + places.first_number;
        for (long done = 0; done < count; done += tile_) {
          const long tile = std::min(tile_, count - done);
          const int samples = static_cast<int>(tile) * batch_;
          // The quickest pairs would look at the clock a twentieth of their time: the last tile stands for all.
          Stopwatch watch(done + tile >= count, static_cast<double>(count) / static_cast<double>(tile));
          places.batches.read(numbers, streams_.row(), samples, batches_.x.data(), targets);
          numbers += static_cast<std::size_t>(samples * inputs_) * streams_.row();
          timings_.data += watch.lap();
          batches_.prepared.compute(batches_.x.data(), samples, places.finite);
          timings_.training += watch.lap();
          for (Training& training : places.trainings) {
            if (stopped()) return false;
            const long own = std::min(tile, training.iterations + 1 - e - done);
            step(training, own);
            const double seconds = watch.lap();
            training.seconds += seconds;
            timings_.training += seconds;
            if (own > 0) steps += static_cast<double>(own) * static_cast<double>(places.runs);
          }
        }
      }
      e += count;
      if (!progressed(steps)) return false;
    }
    return true;
  }

  FinishedRuns finish() {
    FinishedRuns finished;
    for (PlacesInTraining& places : places_) {
      for (Training& training : places.trainings) {
        for (std::size_t l = 0; l < places.runs; ++l) {
          finished.runs.push_back({id_of(places, training, l), std::move(training.records[l]),
                                   training.seconds / static_cast<double>(places.runs)});
        }
      }
    }
    finished.timings = {{"data_seconds", timings_.data},
                        {"evaluation_seconds", timings_.evaluation},
                        {"training_seconds", timings_.training}};
    return finished;
  }

 private:
  bool stopped() const { return settings_.stop.stop_requested(); }

  SeedStreams streams_of(const Work& work, const simd::Target& target) const {
    std::vector<std::uint32_t> seeds;
    for (const std::uint32_t seed : work.seeds) seeds.push_back(OperandPlace(seed, inputs_).train_seed);
    return SeedStreams(target, seeds);
  }

  static std::vector<Bundle<float>*> bundles_of(std::vector<Training>& trainings) {
    std::vector<Bundle<float>*> bundles;
    for (Training& training : trainings) bundles.push_back(&training.bundle);
    return bundles;
  }

  void add(const std::vector<Place>& real, const simd::Target& target) {
    std::vector<Place> places = real;
    places.resize(lanes_, real.back());
    std::vector<Training> trainings;
    for (const Pair& pair : work_.pairs) {
      const Cell& cell = cells_.of(pair);
      trainings.push_back({pair, cell.iterations(), Bundle<float>(cell.stack, cell.recipe, target),
                           std::vector<RunRecord>(real.size()), nalm::looks_at_validation(cell.recipe), 0,
                           std::vector<double>(lanes_), std::vector<double>(lanes_)});
      for (std::size_t l = 0; l < lanes_; ++l) {
        // The reference draws start values twice; the second draw counts.
        const auto stream = std::make_shared<TorchStream>(places[l].seed);
        trainings.back().bundle.start(static_cast<int>(l), stream);
        trainings.back().bundle.start(static_cast<int>(l), stream);
      }
      last_ = std::max(last_, cell.iterations());
      batch_ = cell.recipe.training.batch;
    }
    const Clock::time_point start = Clock::now();
    std::vector<LaneStream::Lane> lanes;
    for (const Place& place : places) lanes.push_back({place.seed, place.range.train});
    const std::size_t first_number = places_.size() * lanes_ % work_.seeds.size();
    const bool finite = std::ranges::all_of(places, [](const Place& place) {
      return std::max(std::abs(place.range.train.lo), std::abs(place.range.train.hi)) <=
             std::numeric_limits<float>::max();
    });
    const auto set = [&](bool test) {
      return EvaluationSet(places, test, inputs_, operations_, bundles_of(trainings), evaluation_, settings_.stop);
    };
    EvaluationSet validation = set(false), test = set(true);
    places_.push_back({std::move(places), real.size(), LaneStream(target, lanes, inputs_), first_number, finite,
                       std::move(trainings), std::move(validation), std::move(test)});
    timings_.data += since(start);
  }

  // So many iterations on the batches that were read last.
  void step(Training& training, long count) {
    const std::size_t rows = static_cast<std::size_t>(batch_) * lanes_;
    const float* t = batches_.targets(training.pair.operation).data();
    for (long k = 0; k < count; ++k) {
      const std::size_t first = static_cast<std::size_t>(k * inputs_) * rows;
      training.bundle.step(batches_.x.data() + first, t + static_cast<std::size_t>(k) * rows, batch_,
                           batches_.prepared.of(training.bundle.network(), first));
    }
  }

  RunId id_of(const PlacesInTraining& places, const Training& training, std::size_t lane) const {
    const Place& place = places.places[lane];
    return {cells_.position(training.pair, place.range), place.seed};
  }

  static long next_multiple(long e, long of) { return (e / of + 1) * of; }

  // Logs errors, and renews the validation error where a recipe looks at it, with the parameters before this
  // iteration's update. False: given up in the middle.
  bool evaluate(PlacesInTraining& places, long e) {
    std::vector<Training*> validated, logged;
    for (Training& training : places.trainings) {
      const long last = training.iterations;
      const bool log = e <= last && (e % log_every_ == 0 || e == last);
      if (log) logged.push_back(&training);
      if (log || (training.looks_at_validation && e % renew_every == 0 && e <= last)) validated.push_back(&training);
    }
    if (validated.empty()) return true;
    const Clock::time_point start = Clock::now();
    for (Training* training : validated) training->bundle.network().update_weights();
    mean_squared_errors(places.validation, validated, &Training::validation);
    mean_squared_errors(places.test, logged, &Training::test);
    if (stopped()) return false;
    for (Training* training : validated) {
      if (e % renew_every != 0) continue;
      for (std::size_t l = 0; l < lanes_; ++l)
        training->bundle.set_validation_error(static_cast<int>(l), static_cast<float>(training->validation[l]));
    }
    for (Training* training : logged) {
      for (std::size_t l = 0; l < places.runs; ++l) {
        RunRecord& record = training->records[l];
        const int lane = static_cast<int>(l);
        record.steps.push_back(e);
        // Rounded to float, as the reference logs them.
        record.values.push_back({static_cast<double>(static_cast<float>(training->validation[l])),
                                 static_cast<double>(static_cast<float>(training->test[l])),
                                 training->bundle.network().sparsity_error(lane)});
        record.parameters.push_back(training->bundle.network().parameters(lane));
        if (settings_.logged) settings_.logged(id_of(places, *training, l), record);
      }
    }
    timings_.evaluation += since(start);
    return true;
  }

  void mean_squared_errors(const EvaluationSet& set, const std::vector<Training*>& trainings,
                           std::vector<double> Training::*result) {
    if (trainings.empty()) return;
    std::vector<double> sums(lanes_);
    for (Training* training : trainings) std::fill((training->*result).begin(), (training->*result).end(), 0.0);
    for (int row = 0; row < evaluation_rows; row += evaluation_tile) {
      set.read(kernels_, static_cast<std::size_t>(row), evaluation_tile, evaluated_);
      for (Training* training : trainings) {
        if (stopped()) return;
        Network<float>& network = training->bundle.network();
        network.squared_error(evaluated_.x.data(), evaluated_.targets(training->pair.operation).data(), evaluation_tile,
                              sums, evaluated_.prepared.of(network, 0));
        for (std::size_t l = 0; l < lanes_; ++l) (training->*result)[l] += sums[l];
      }
    }
    for (Training* training : trainings)
      for (double& value : training->*result) value /= evaluation_rows;
  }

  const Cells& cells_;
  int inputs_, batch_ = 128;
  long log_every_, last_ = 0;
  long chunk_ = 1, tile_ = 1;  // iterations whose numbers are drawn ahead, and whose batches are made of them at a time
  std::size_t lanes_;
  const Work& work_;
  const ExecutorSettings& settings_;
  const StreamKernels& kernels_;
  EvaluationRows& evaluation_;
  SeedStreams streams_;
  std::vector<Operation> operations_;
  std::vector<PlacesInTraining> places_;
  AlignedVector<double> numbers_;
  Rows batches_, evaluated_;  // of the places that train or are evaluated now, in lane layout
  Timings timings_;
};

// The bytes that one bundle of places with these pairs keeps from start to end, as if no lanes shared the rows that
// they are evaluated on.
double bundle_memory(const Cells& cells, const std::vector<Pair>& pairs, std::size_t lanes) {
  const double inputs = cells.inputs();
  std::set<std::string_view> prepared;
  std::set<Operation> operations;
  double series = 0;
  for (const Pair& pair : pairs) {
    if (!pair.module->prepared.empty()) prepared.insert(pair.module->prepared);
    operations.insert(pair.operation);
    const double rows = static_cast<double>(cells.of(pair).iterations() / cells.log_every() + 2);
    double parameters = 0;
    for (const LayerSpec& layer : cells.of(pair).stack) parameters += parameter_count(*layer.module, layer.shape);
    series += rows * (sizeof(long) + 2 * sizeof(std::vector<double>) + sizeof(double) * (3.0 + parameters));
  }
  const double values = inputs * static_cast<double>(1 + prepared.size()) + static_cast<double>(operations.size());
  return static_cast<double>(lanes) * ((2.0 * evaluation_rows + evaluation_tile) * values * sizeof(float) + series);
}

// Those of a whole task: its bundles, and the rows of an evaluation set while they are drawn.
double memory_of(const Cells& cells, const Work& work, std::size_t lanes) {
  const double drawn = static_cast<double>(cells.inputs()) * evaluation_rows * (2 * sizeof(double) + sizeof(float));
  return static_cast<double>(work.bundles.size()) * bundle_memory(cells, work.pairs, lanes) + drawn;
}

// Places with the same pairs to train.
struct Group {
  std::vector<Pair> pairs;
  std::vector<Place> places;
  std::vector<std::uint32_t> seeds;  // of the places, which go round them
};

// Different ones, in the order in which they appear.
std::vector<std::uint32_t> seeds_of(const std::vector<Place>& places) {
  std::vector<std::uint32_t> seeds;
  std::set<std::uint32_t> seen;
  for (const Place& place : places)
    if (seen.insert(place.seed).second) seeds.push_back(place.seed);
  return seeds;
}

// As many pieces of work as the places of a group take, no more than so many bundles in each. Seeds are shared out
// among the threads where that takes no more bundles: then nobody draws what another draws, too.
std::vector<Work> works_of(const Group& group, std::size_t lanes, std::size_t threads, std::size_t most) {
  const std::size_t n = group.seeds.size();
  const auto places_of = [&](std::size_t part, std::size_t parts) {
    std::vector<Place> places;
    for (std::size_t k = 0; k < group.places.size(); ++k)
      if (k % n >= n * part / parts && k % n < n * (part + 1) / parts) places.push_back(group.places[k]);
    return places;
  };
  const auto bundles = [&](std::size_t parts) {
    std::size_t sum = 0;
    for (std::size_t p = 0; p < parts; ++p) sum += round_up_quotient(places_of(p, parts).size(), lanes);
    return sum;
  };
  const std::size_t parts = bundles(threads) > bundles(1) ? 1 : threads;
  std::vector<Work> works;
  for (std::size_t p = 0; p < parts; ++p) {
    const std::vector<Place> places = places_of(p, parts);
    const std::size_t count = round_up_quotient(places.size(), lanes), pieces = round_up_quotient(count, most);
    for (std::size_t k = 0; k < pieces; ++k) {
      const auto place = [&](std::size_t piece) {
        return places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), count * piece / pieces * lanes));
      };
      const std::vector<Place> own(place(k), place(k + 1));
      Work& work = works.emplace_back(Work{seeds_of(own), {}, group.pairs});
      for (const Place& one : own) {
        if (work.bundles.empty() || work.bundles.back().size() == lanes) work.bundles.emplace_back();
        work.bundles.back().push_back(one);
      }
    }
  }
  return works;
}

// Places whose seeds do not go round: ranges that have the same seeds, which then do.
std::vector<Group> split_by_seeds(const Group& group) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < group.places.size();) {
    Group of_range{group.pairs, {}, {}};
    const std::string range = name_of(group.places[k].range.train);
    for (; k < group.places.size() && name_of(group.places[k].range.train) == range; ++k)
      of_range.places.push_back(group.places[k]);
    of_range.seeds = seeds_of(of_range.places);
    const auto known = std::ranges::find(groups, of_range.seeds, &Group::seeds);
    if (known == groups.end()) {
      groups.push_back(std::move(of_range));
    } else {
      known->places.insert(known->places.end(), of_range.places.begin(), of_range.places.end());
    }
  }
  return groups;
}

// Runs by place, and what is left to do at each.
std::vector<Group> places_of(const std::vector<Cell>& cells, const std::vector<RunId>& runs) {
  std::vector<Group> places;
  const std::string* range = nullptr;
  for (const RunId& run : runs) {
    const Cell& cell = cells[run.cell];
    if (!range || *range != cell.setting || places.back().places.front().seed != run.seed) {
      places.push_back({{}, {{problem_of(cell).range, run.seed}}, {}});
      range = &cell.setting;
    }
    places.back().pairs.push_back(problem_of(cell).pair);
  }
  return places;
}

// Places that have the same pairs left to do fill lanes together. What does not divide evenly among the threads is
// split by pairs, so that no thread waits long for another.
std::vector<Work> divide(const Cells& lookup, const std::vector<Cell>& cells, const std::vector<RunId>& runs,
                         std::size_t lanes, std::size_t threads) {
  std::vector<Group> with_pairs;
  for (const Group& place : places_of(cells, runs)) {
    auto known = std::ranges::find(with_pairs, place.pairs, &Group::pairs);
    if (known == with_pairs.end()) known = with_pairs.insert(known, Group{place.pairs, {}, {}});
    known->places.push_back(place.places.front());
  }
  std::vector<Group> groups;
  for (Group& group : with_pairs) {
    group.seeds = seeds_of(group.places);
    bool goes_round = true;
    for (std::size_t k = 0; k < group.places.size(); ++k)
      goes_round = goes_round && group.places[k].seed == group.seeds[k % group.seeds.size()];
    const std::vector<Group> parts = goes_round ? std::vector<Group>{std::move(group)} : split_by_seeds(group);
    groups.insert(groups.end(), parts.begin(), parts.end());
  }
  std::vector<Work> all;
  for (const Group& group : groups) {
    const double room = std::min(task_memory, largest_memory() / (2.0 * static_cast<double>(threads)));
    const std::size_t fitting = static_cast<std::size_t>(room / bundle_memory(lookup, group.pairs, lanes));
    const std::size_t bundles = round_up_quotient(group.places.size(), lanes);
    const std::size_t most = std::clamp<std::size_t>(std::min(fitting, together / group.pairs.size()), 1,
                                                     round_up_quotient(bundles, threads));
    const std::vector<Work> works = works_of(group, lanes, threads, most);
    all.insert(all.end(), works.begin(), works.end());
  }
  const std::size_t whole = all.size() / threads * threads;
  std::vector<Work> result(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(whole));
  for (std::size_t k = whole; k < all.size(); ++k) {
    std::vector<Work> parts(std::min(threads, all[k].pairs.size()), Work{all[k].seeds, all[k].bundles, {}});
    for (std::size_t p = 0; p < all[k].pairs.size(); ++p) parts[p % parts.size()].pairs.push_back(all[k].pairs[p]);
    result.insert(result.end(), parts.begin(), parts.end());
  }
  return result;
}

// Runs of one place stand together: by range, then seed, then pair.
std::vector<RunId> by_place(const std::vector<Cell>& cells, std::vector<RunId> runs) {
  std::map<std::string, std::size_t> ranges;
  std::map<std::uint32_t, std::size_t> seeds;
  for (const Cell& cell : cells) ranges.emplace(cell.setting, ranges.size());
  for (const RunId& run : runs) seeds.emplace(run.seed, seeds.size());
  const auto key = [&](const RunId& run) {
    return std::tuple(ranges.at(cells[run.cell].setting), seeds.at(run.seed), run.cell);
  };
  std::stable_sort(runs.begin(), runs.end(), [&](const RunId& a, const RunId& b) { return key(a) < key(b); });
  return runs;
}

}  // namespace

std::vector<Unit> units_of_places(const std::vector<Cell>& cells, const std::vector<RunId>& runs, std::size_t lanes) {
  const std::vector<RunId> sorted = by_place(cells, runs);
  const std::vector<Group> places = places_of(cells, sorted);
  std::vector<Unit> units;
  auto run = sorted.begin();
  for (std::size_t first = 0; first < places.size();) {
    const std::vector<Pair>& pairs = places[first].pairs;
    std::size_t end = first;
    while (end < places.size() && places[end].pairs == pairs) ++end;
    const std::vector<std::size_t> parts = even_parts(end - first, lanes);
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
      const std::size_t bundle = units.size();
      units.resize(bundle + pairs.size(), Unit{{}, 0, bundle});
      for (std::size_t place = parts[p]; place < parts[p + 1]; ++place) {
        for (std::size_t k = bundle; k < units.size(); ++k, ++run) {
          units[k].runs.push_back(*run);
          units[k].cost += cost_of(cells[run->cell]);
        }
      }
    }
    first = end;
  }
  return units;
}

Status train_single_modules(const std::vector<Cell>& cells, const std::vector<RunId>& runs,
                            const ExecutorSettings& settings) {
  if (runs.empty()) return Done{};
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  const int threads = Session::threads_of(settings);
  const Cells lookup(cells);
  const std::size_t lanes = static_cast<std::size_t>((*target)->float_lanes);
  const std::vector<Work> all = divide(lookup, cells, by_place(cells, runs), lanes, static_cast<std::size_t>(threads));
  double needed = 0;
  for (const Work& work : all) needed = std::max(needed, memory_of(lookup, work, lanes));
  const std::size_t at_once = std::min(static_cast<std::size_t>(threads), all.size());
  needed *= static_cast<double>(at_once);
  if (const double there_is = largest_memory(); needed > there_is) {
    return Error{fmt::format(
        "training with {} inputs on {} needs about {:.3g} GB of memory, and there are {:.3g} GB; use fewer inputs, "
        "fewer threads, fewer modules at a time, or log less often.",
        lookup.inputs(), at_once == 1 ? "1 thread" : fmt::format("{} threads", at_once), needed / 1e9, there_is / 1e9)};
  }
  double total = 0;
  for (const RunId& run : runs) total += static_cast<double>(cells[run.cell].iterations() + 1);
  EvaluationRows evaluation;
  Session session(settings, total);
  return session.run(all.size(), threads, [&](std::size_t k) {
    WorkRun work(lookup, all[k], **target, settings, evaluation);
    if (work.train([&](double steps) { return session.progressed(steps); })) session.finish(work.finish());
  });
}

}  // namespace nalm
