#include "tasks/task_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <new>

#include "base/threads.hpp"

namespace nalm {
namespace {

using Clock = std::chrono::steady_clock;

// Recipes that look at the validation error see set 0, renewed as often as the benchmark does it.
constexpr long renew_every = 1000;
constexpr int evaluation_tile = 256;  // rows
constexpr int rows_that_end = 3;      // met in a row, see Arm::may_end_after

struct Bundled {
  std::size_t arm = 0;
  std::vector<std::uint32_t> seeds;  // at most one per lane; one for an arm of its own kind
};

// What the measures of one set need, per lane.
struct SetErrors {
  std::vector<double> squares, absolutes, count;
  std::vector<std::vector<double>> within;  // [measure]
};

template <class S>
class BundleRun {
 public:
  BundleRun(const Arm& arm, const std::vector<std::uint32_t>& seeds, const simd::Target& target,
            const TaskRunnerSettings& settings)
      : arm_(arm),
        seeds_(seeds),
        recipe_(resolve_recipe(arm, settings)),
        log_every_(settings.log_every.value_or(arm.log_every)),
        wiring_(arm.wiring ? *arm.wiring : Wiring::of(arm.stack)),
        bundle_(arm.stack, wiring_, recipe_, target),
        records_(seeds.size()),
        best_(seeds.size(), std::numeric_limits<double>::infinity()),
        met_(seeds.size(), 0),
        ended_(seeds.size(), false) {
    lanes_ = static_cast<std::size_t>(bundle_.lanes());
    // Lanes that are left over repeat the last run; their results are dropped.
    std::vector<std::uint32_t> all = seeds;
    all.resize(lanes_, seeds.back());
    for (std::size_t l = 0; l < lanes_; ++l) {
      bundle_.start(static_cast<int>(l), std::make_shared<Xoshiro>(stream_of("start values", all[l]).next()));
      data_.push_back(l < seeds.size() ? arm.data(all[l]) : nullptr);
    }
    const std::size_t batch = static_cast<std::size_t>(recipe_.training.batch);
    x_.assign(batch * static_cast<std::size_t>(wiring_.inputs()) * lanes_, S(1));
    t_.assign(batch * static_cast<std::size_t>(wiring_.outputs()) * lanes_, S(1));
    if constexpr (sizeof(S) == sizeof(float)) {
      if (arm.lane_source) source_ = arm.lane_source(target, all);
    }
    int sets = 0;
    for (const Measure& measure : arm.measures) {
      if (measure.kind != Measure::Kind::Sparsity && measure.kind != Measure::Kind::NonZero)
        sets = std::max(sets, measure.set + 1);
      if (measure.name == arm.goal.measure) judged_ = &measure - arm.measures.data();
      if (measure.name == arm.goal.best_by) best_by_ = &measure - arm.measures.data();
    }
    for (int k = 0; k < sets; ++k) sets_.emplace_back(*this, k, target);
    for (const Regulariser& r : all_regularisers())
      looks_at_validation_ =
          looks_at_validation_ || (r.kind == Regulariser::Kind::Saturate && !recipe_.training.phases);
    looks_at_validation_ = looks_at_validation_ || recipe_.training.restarts ||
                           (recipe_.training.reinitialise && !recipe_.training.reinitialise->range);
  }

  // progressed(iterations x runs) is called now and then; false from it ends the training.
  template <class F>
  bool train(F progressed) {
    const long last = recipe_.training.iterations;
    long reported = 0;
    for (long e = 0;; ++e) {
      if (e % log_every_ == 0 || e == last) {
        log(e);
        if (!progressed(static_cast<double>((e - reported) * static_cast<long>(seeds_.size())))) return false;
        reported = e;
      }
      if (e == last || std::all_of(ended_.begin(), ended_.end(), [](bool b) { return b; })) {
        return progressed(static_cast<double>((last - e) * static_cast<long>(seeds_.size())));
      }
      if (looks_at_validation_ && e % renew_every == 0) {
        bundle_.network().update_weights();
        const SetErrors errors = sets_.front().measure(*this);
        for (std::size_t l = 0; l < lanes_; ++l)
          bundle_.set_validation_error(static_cast<int>(l), errors.squares[l] / errors.count[l]);
      }
      draw(e);
      bundle_.step(x_.data(), t_.data(), recipe_.training.batch);
    }
  }

  std::vector<RunRecord> finish() { return std::move(records_); }

 private:
  // Rows of a set, in lane layout, and the network that they are shown to.
  class Set {
   public:
    Set(BundleRun& run, int k, const simd::Target& target) : number_(k) {
      const std::size_t index = static_cast<std::size_t>(k);
      if (index < run.arm_.set_wirings.size() && run.arm_.set_wirings[index])
        own_ = std::make_unique<Network<S>>(run.arm_.stack, *run.arm_.set_wirings[index], target);
      const Network<S>& network = own_ ? *own_ : run.bundle_.network();
      inputs_ = static_cast<std::size_t>(network.inputs());
      outputs_ = static_cast<std::size_t>(network.outputs());
      for (std::size_t l = 0; l < run.seeds_.size(); ++l) {
        const Rows rows = run.data_[l]->set(k);
        if (l == 0) {
          rows_ = rows.x.size() / inputs_;
          x_.assign(rows.x.size() * run.lanes_, S(1));
          t_.assign(rows.t.size() * run.lanes_, S(1));
        }
        for (std::size_t j = 0; j < rows.x.size(); ++j) x_[j * run.lanes_ + l] = static_cast<S>(rows.x[j]);
        for (std::size_t j = 0; j < rows.t.size(); ++j) t_[j * run.lanes_ + l] = static_cast<S>(rows.t[j]);
      }
      y_.resize(static_cast<std::size_t>(evaluation_tile) * outputs_ * run.lanes_);
    }

    SetErrors measure(BundleRun& run) {
      Network<S>* network = &run.bundle_.network();
      if (own_) {
        for (std::size_t l = 0; l < run.seeds_.size(); ++l)
          for (int k = 0; k < own_->layer_count(); ++k)
            own_->set_parameters(static_cast<int>(l), k, network->parameters(static_cast<int>(l), k));
        own_->update_weights();
        network = own_.get();
      }
      const std::size_t lanes = run.lanes_;
      SetErrors errors{std::vector<double>(lanes),
                       std::vector<double>(lanes),
                       std::vector<double>(lanes, static_cast<double>(rows_ * outputs_)),
                       {}};
      for (const Measure& measure : run.arm_.measures)
        errors.within.emplace_back(measure.kind == Measure::Kind::Within && measure.set == number_ ? lanes : 0);
      for (std::size_t first = 0; first < rows_; first += evaluation_tile) {
        const std::size_t count = std::min<std::size_t>(evaluation_tile, rows_ - first);
        network->predict(x_.data() + first * inputs_ * lanes, y_.data(), static_cast<int>(count));
        const S* t = t_.data() + first * outputs_ * lanes;
        for (std::size_t j = 0; j < count * outputs_ * lanes; j += lanes) {
          for (std::size_t l = 0; l < lanes; ++l) {
            const double difference = static_cast<double>(y_[j + l]) - static_cast<double>(t[j + l]);
            errors.squares[l] += difference * difference;
            errors.absolutes[l] += std::fabs(difference);
          }
        }
        for (std::size_t m = 0; m < errors.within.size(); ++m) {
          if (errors.within[m].empty()) continue;
          const double tolerance = run.arm_.measures[m].tolerance;
          for (std::size_t j = 0; j < count * outputs_ * lanes; ++j)
            errors.within[m][j % lanes] +=
                std::fabs(static_cast<double>(y_[j]) - static_cast<double>(t[j])) < tolerance ? 1 : 0;
        }
      }
      return errors;
    }

   private:
    int number_;
    std::unique_ptr<Network<S>> own_;
    std::size_t inputs_ = 0, outputs_ = 0, rows_ = 0;
    AlignedVector<S> x_, t_, y_;
  };

  std::vector<Regulariser> all_regularisers() const {
    std::vector<Regulariser> all;
    for (const LayerRecipe& layer : recipe_.layers)
      all.insert(all.end(), layer.regularisers.begin(), layer.regularisers.end());
    return all;
  }

  void draw(long e) {
    if constexpr (sizeof(S) == sizeof(float)) {
      if (source_) return source_->batch(e, x_.data(), t_.data());
    }
    row_x_.resize(x_.size() / lanes_);
    row_t_.resize(t_.size() / lanes_);
    for (std::size_t l = 0; l < seeds_.size(); ++l) {
      data_[l]->batch(e, row_x_, row_t_);
      for (std::size_t j = 0; j < row_x_.size(); ++j) x_[j * lanes_ + l] = static_cast<S>(row_x_[j]);
      for (std::size_t j = 0; j < row_t_.size(); ++j) t_[j * lanes_ + l] = static_cast<S>(row_t_[j]);
    }
  }

  void log(long e) {
    Network<S>& network = bundle_.network();
    network.update_weights();
    std::vector<SetErrors> errors;
    for (Set& set : sets_) errors.push_back(set.measure(*this));
    for (std::size_t l = 0; l < seeds_.size(); ++l) {
      if (ended_[l]) continue;
      const int lane = static_cast<int>(l);
      std::vector<double> values;
      for (std::size_t m = 0; m < arm_.measures.size(); ++m) {
        const Measure& measure = arm_.measures[m];
        switch (measure.kind) {
          case Measure::Kind::Mse:
            values.push_back(of(errors, measure).squares[l] / of(errors, measure).count[l]);
            break;
          case Measure::Kind::Mae:
            values.push_back(of(errors, measure).absolutes[l] / of(errors, measure).count[l]);
            break;
          case Measure::Kind::Within:
            values.push_back(of(errors, measure).within[m][l] / of(errors, measure).count[l]);
            break;
          case Measure::Kind::Sparsity:
            values.push_back(network.sparsity_error(lane));
            break;
          case Measure::Kind::NonZero: {
            int count = 0;
            for (int k = 0; k < network.layer_count(); ++k)
              for (const double p : network.parameters(lane, k)) count += std::fabs(p) > 1e-3 ? 1 : 0;
            values.push_back(count);
            break;
          }
        }
      }
      RunRecord& record = records_[l];
      record.steps.push_back(e);
      const bool met = judged_ >= 0 && meets(arm_.goal, values[static_cast<std::size_t>(judged_)]);
      const double value = best_by_ >= 0 ? values[static_cast<std::size_t>(best_by_)] : 0;
      // The earliest of equal rows is the best one; without best_by it is the last one.
      if (best_by_ < 0 || value < best_[l] || record.parameters.empty()) {
        best_[l] = value;
        record.parameters.clear();
        for (int k = 0; k < network.layer_count(); ++k) {
          const std::vector<double> layer = network.parameters(lane, k);
          record.parameters.insert(record.parameters.end(), layer.begin(), layer.end());
        }
      }
      record.values.push_back(std::move(values));
      met_[l] = met ? met_[l] + 1 : 0;
      ended_[l] = arm_.may_end_after && e >= *arm_.may_end_after && met_[l] >= rows_that_end;
    }
  }

  static bool meets(const Goal& goal, double value) { return goal.above ? value > goal.limit : value < goal.limit; }
  static const SetErrors& of(const std::vector<SetErrors>& errors, const Measure& measure) {
    return errors[static_cast<std::size_t>(measure.set)];
  }

  const Arm& arm_;
  std::vector<std::uint32_t> seeds_;
  Recipe recipe_;
  long log_every_;
  Wiring wiring_;
  Bundle<S> bundle_;
  std::size_t lanes_ = 0;
  std::vector<std::unique_ptr<RunData>> data_;
  std::unique_ptr<LaneSource> source_;
  std::vector<Set> sets_;
  AlignedVector<S> x_, t_;
  std::vector<double> row_x_, row_t_;
  std::vector<RunRecord> records_;
  std::vector<double> best_;
  std::vector<int> met_;
  std::vector<bool> ended_;
  std::ptrdiff_t judged_ = -1, best_by_ = -1;
  bool looks_at_validation_ = false;
};

std::vector<Bundled> bundles_of(const std::vector<Arm>& arms, const std::vector<TaskRunId>& runs,
                                const simd::Target& target) {
  std::vector<Bundled> bundles;
  std::vector<std::ptrdiff_t> open(arms.size(), -1);  // the bundle of an arm that has room
  for (const TaskRunId& run : runs) {
    const Arm& arm = arms[run.arm];
    const std::size_t lanes = arm.own                             ? 1
                              : arm.precision == Precision::Float ? static_cast<std::size_t>(target.lanes<float>())
                                                                  : static_cast<std::size_t>(target.lanes<double>());
    std::ptrdiff_t& bundle = open[run.arm];
    if (bundle < 0 || bundles[static_cast<std::size_t>(bundle)].seeds.size() == lanes) {
      bundle = static_cast<std::ptrdiff_t>(bundles.size());
      bundles.push_back({run.arm, {}});
    }
    bundles[static_cast<std::size_t>(bundle)].seeds.push_back(run.seed);
  }
  return bundles;
}

}  // namespace

Recipe resolve_recipe(const Arm& arm, const TaskRunnerSettings& settings) {
  Recipe recipe = arm.recipe;
  if (settings.iterations) recipe.training.iterations = *settings.iterations;
  if (settings.learning_rate) recipe.training.optimiser.set_learning_rate(*settings.learning_rate);
  return recipe;
}

Status train_task(const std::vector<Arm>& arms, const std::vector<TaskRunId>& runs,
                  const TaskRunnerSettings& settings) {
  if (runs.empty()) return Done{};
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  const std::vector<Bundled> bundles = bundles_of(arms, runs, **target);

  double total = 0;
  for (const TaskRunId& run : runs) {
    const Arm& arm = arms[run.arm];
    total += arm.own ? arm.own_cost : static_cast<double>(resolve_recipe(arm, settings).training.iterations);
  }
  std::atomic<double> done = 0;
  std::atomic<bool> ended = false;
  std::mutex mutex;
  Status status = Done{};
  const auto progressed = [&](double steps) {
    const double now = done.fetch_add(steps, std::memory_order_relaxed) + steps;
    if (settings.progress) settings.progress->store(now / total, std::memory_order_relaxed);
    return !ended && !(settings.stop && *settings.stop);
  };
  const auto finish = [&](std::size_t arm, const std::vector<std::uint32_t>& seeds,
                          const std::vector<RunRecord>& records, double seconds) {
    const std::lock_guard lock(mutex);
    for (std::size_t l = 0; l < records.size() && !ended; ++l) {
      Status stored = settings.finished({arm, seeds[l]}, records[l], seconds / static_cast<double>(records.size()));
      if (stored) continue;
      status = std::move(stored);
      ended = true;
    }
  };
  const auto fail = [&](Error error) {
    const std::lock_guard lock(mutex);
    if (!ended) status = std::move(error);
    ended = true;
  };
  const auto train = [&]<class S>(const Bundled& bundle, S) {
    const Clock::time_point start = Clock::now();
    BundleRun<S> run(arms[bundle.arm], bundle.seeds, **target, settings);
    if (!run.train(progressed)) return;
    finish(bundle.arm, bundle.seeds, run.finish(), std::chrono::duration<double>(Clock::now() - start).count());
  };
  parallel_for(static_cast<int>(bundles.size()), settings.threads, [&](int k) {
    if (!progressed(0)) return;
    const Bundled& bundle = bundles[static_cast<std::size_t>(k)];
    const Arm& arm = arms[bundle.arm];
    try {
      if (arm.own) {
        const Clock::time_point start = Clock::now();
        OwnRunSettings own;
        own.seed = bundle.seeds.front();
        own.iterations = settings.iterations;
        own.learning_rate = settings.learning_rate;
        own.stop = settings.stop;
        Result<RunRecord> record = arm.own(own);
        if (settings.stop && *settings.stop) return;
        if (!record) return fail(record.error());
        progressed(arm.own_cost);
        finish(bundle.arm, bundle.seeds, {std::move(*record)},
               std::chrono::duration<double>(Clock::now() - start).count());
      } else if (arm.precision == Precision::Float) {
        train(bundle, float());
      } else {
        train(bundle, double());
      }
    } catch (const std::bad_alloc&) {
      fail({"out of memory; use fewer threads."});
    }
  });
  return status;
}

}  // namespace nalm
