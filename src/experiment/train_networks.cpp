#include "experiment/executor.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "experiment/session.hpp"
#include "experiment/task.hpp"
#include "train/bundle.hpp"

namespace nalm {
namespace {

using Clock = std::chrono::steady_clock;

// Recipes that look at the validation error see set 0, renewed as often as the benchmark does it.
constexpr long renew_every = 1000;
constexpr long ask_every = 256;       // whether to go on, however seldom errors are logged
constexpr int evaluation_tile = 256;  // rows
constexpr int rows_that_end = 3;      // met in a row, see Cell::may_end_after

struct Bundled {
  std::size_t cell = 0;
  std::vector<std::uint32_t> seeds;  // at most one per lane; one for a cell with a run of its own
};

// What the measures of one set need, per lane.
struct SetErrors {
  std::vector<double> squares, absolutes, count;
  std::vector<std::vector<double>> within;  // [measure]
};

template <class S>
class BundleRun {
 public:
  BundleRun(const Cell& cell, const std::vector<std::uint32_t>& seeds, const simd::Target& target)
      : cell_(cell),
        seeds_(seeds),
        wiring_(cell.wiring ? *cell.wiring : Wiring::of(cell.stack)),
        bundle_(cell.stack, wiring_, cell.recipe, target),
        records_(seeds.size()),
        best_by_(cell.position(cell.goal.best_by)),
        kept_(seeds.size(), 0),
        met_(seeds.size(), 0),
        ended_(seeds.size(), false) {
    lanes_ = static_cast<std::size_t>(bundle_.lanes());
    // Lanes that are left over repeat the last run; their results are dropped.
    std::vector<std::uint32_t> all = seeds;
    all.resize(lanes_, seeds.back());
    for (std::size_t l = 0; l < lanes_; ++l) {
      bundle_.start(static_cast<int>(l), std::make_shared<Xoshiro>(stream_of("start values", all[l]).next()));
      data_.push_back(l < seeds.size() ? cell.data(all[l]) : nullptr);
    }
    const std::size_t batch = static_cast<std::size_t>(cell_.recipe.training.batch);
    x_.assign(batch * static_cast<std::size_t>(wiring_.inputs()) * lanes_, S(1));
    t_.assign(batch * static_cast<std::size_t>(wiring_.outputs()) * lanes_, S(1));
    if constexpr (sizeof(S) == sizeof(float)) {
      if (cell.lane_source) source_ = cell.lane_source(target, all);
    }
    int sets = 0;
    for (const Measure& measure : cell.measures) {
      if (measure.kind != Measure::Kind::Sparsity && measure.kind != Measure::Kind::NonZero)
        sets = std::max(sets, measure.set + 1);
      if (measure.name == cell.goal.measure) judged_ = &measure - cell.measures.data();
    }
    for (int k = 0; k < sets; ++k) sets_.emplace_back(*this, k, target);
    for (const Regulariser& r : all_regularisers())
      looks_at_validation_ =
          looks_at_validation_ || (r.kind == Regulariser::Kind::Saturate && !cell_.recipe.training.phases);
    looks_at_validation_ = looks_at_validation_ || cell_.recipe.training.restarts ||
                           (cell_.recipe.training.reinitialise && !cell_.recipe.training.reinitialise->range);
  }

  // progressed(iterations x runs) is called now and then; false from it ends the training.
  template <class F>
  bool train(F progressed) {
    const long last = cell_.recipe.training.iterations;
    long reported = 0;
    for (long e = 0;; ++e) {
      if (e % ask_every == 0 && !progressed(0)) return false;
      if (e % cell_.log_every == 0 || e == last) {
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
      bundle_.step(x_.data(), t_.data(), cell_.recipe.training.batch);
    }
  }

  std::vector<RunRecord> finish() { return std::move(records_); }

 private:
  // Rows of a set, in lane layout, and the network that they are shown to.
  class Set {
   public:
    Set(BundleRun& run, int k, const simd::Target& target) : number_(k) {
      const std::size_t index = static_cast<std::size_t>(k);
      if (index < run.cell_.set_wirings.size() && run.cell_.set_wirings[index])
        own_ = std::make_unique<Network<S>>(run.cell_.stack, *run.cell_.set_wirings[index], target);
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
      for (const Measure& measure : run.cell_.measures)
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
          const double tolerance = run.cell_.measures[m].tolerance;
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
    for (const LayerRecipe& layer : cell_.recipe.layers)
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
    bundle_.network().update_weights();
    std::vector<SetErrors> errors;
    for (Set& set : sets_) errors.push_back(set.measure(*this));
    for (std::size_t l = 0; l < seeds_.size(); ++l) {
      if (ended_[l]) continue;
      std::vector<double> values;
      for (std::size_t m = 0; m < cell_.measures.size(); ++m) values.push_back(measured(m, errors, l));
      RunRecord& record = records_[l];
      record.steps.push_back(e);
      const bool met = judged_ >= 0 && meets(cell_.goal, values[static_cast<std::size_t>(judged_)]);
      record.values.push_back(std::move(values));
      record.parameters.emplace_back();
      keep_parameters(l, record);
      met_[l] = met ? met_[l] + 1 : 0;
      ended_[l] = cell_.may_end_after && e >= *cell_.may_end_after && met_[l] >= rows_that_end;
    }
  }

  // Measure m of lane l, by the errors on every set.
  double measured(std::size_t m, const std::vector<SetErrors>& errors, std::size_t l) {
    const Measure& measure = cell_.measures[m];
    const auto on_set = [&]() -> const SetErrors& { return errors[static_cast<std::size_t>(measure.set)]; };
    switch (measure.kind) {
      case Measure::Kind::Mse:
        return on_set().squares[l] / on_set().count[l];
      case Measure::Kind::Mae:
        return on_set().absolutes[l] / on_set().count[l];
      case Measure::Kind::Within:
        return on_set().within[m][l] / on_set().count[l];
      case Measure::Kind::Sparsity:
        return bundle_.network().sparsity_error(static_cast<int>(l));
      case Measure::Kind::NonZero:
        return non_zero_count(bundle_.network().parameters(static_cast<int>(l)));
      case Measure::Kind::Other:
        break;
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

  // Those of the row where the run would be judged if it ended here take the place of those before (see judged_row).
  void keep_parameters(std::size_t l, RunRecord& record) {
    const std::size_t row = record.rows() - 1;
    const auto value = [&](std::size_t r) { return record.values[r][*best_by_]; };
    const bool best =
        !best_by_ || (!std::isnan(value(row)) && (std::isnan(value(kept_[l])) || value(row) < value(kept_[l])));
    const bool none_yet = best_by_ && std::isnan(value(row)) && std::isnan(value(kept_[l]));
    if (!best && !none_yet && !cell_.keeps_parameters) return;
    if (best || none_yet) {
      if (!cell_.keeps_parameters) record.parameters[kept_[l]].clear();
      kept_[l] = row;
    }
    record.parameters[row] = bundle_.network().parameters(static_cast<int>(l));
  }

  static bool meets(const Goal& goal, double value) { return goal.above ? value > goal.limit : value < goal.limit; }

  const Cell& cell_;
  std::vector<std::uint32_t> seeds_;
  Wiring wiring_;
  Bundle<S> bundle_;
  std::size_t lanes_ = 0;
  std::vector<std::unique_ptr<RunData>> data_;
  std::unique_ptr<LaneSource> source_;
  std::vector<Set> sets_;
  AlignedVector<S> x_, t_;
  std::vector<double> row_x_, row_t_;
  std::vector<RunRecord> records_;
  std::optional<std::size_t> best_by_;
  std::vector<std::size_t> kept_;  // the row whose parameters are kept
  std::vector<int> met_;
  std::vector<bool> ended_;
  std::ptrdiff_t judged_ = -1;
  bool looks_at_validation_ = false;
};

std::vector<Bundled> bundles_of(const std::vector<Cell>& cells, const std::vector<RunId>& runs,
                                const simd::Target& target) {
  std::vector<Bundled> bundles;
  std::vector<std::ptrdiff_t> open(cells.size(), -1);  // the bundle of a cell that has room
  for (const RunId& run : runs) {
    const Cell& cell = cells[run.cell];
    const std::size_t lanes = cell.own                             ? 1
                              : cell.precision == Precision::Float ? static_cast<std::size_t>(target.lanes<float>())
                                                                   : static_cast<std::size_t>(target.lanes<double>());
    std::ptrdiff_t& bundle = open[run.cell];
    if (bundle < 0 || bundles[static_cast<std::size_t>(bundle)].seeds.size() == lanes) {
      bundle = static_cast<std::ptrdiff_t>(bundles.size());
      bundles.push_back({run.cell, {}});
    }
    bundles[static_cast<std::size_t>(bundle)].seeds.push_back(run.seed);
  }
  return bundles;
}

}  // namespace

Status train_networks(const std::vector<Cell>& cells, const std::vector<RunId>& runs,
                      const ExecutorSettings& settings) {
  if (runs.empty()) return Done{};
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  const std::vector<Bundled> bundles = bundles_of(cells, runs, **target);
  double total = 0;
  bool one_at_a_time = false;
  for (const RunId& run : runs) {
    const Cell& cell = cells[run.cell];
    total += cell.own ? cell.own_cost : static_cast<double>(cell.iterations());
    one_at_a_time = one_at_a_time || cell.own_uses_all_threads;
  }
  const int threads = Session::threads_of(settings);
  Session session(settings, total);
  const auto progressed = [&](double steps) { return session.progressed(steps); };
  const auto finish = [&](const Bundled& bundle, std::vector<RunRecord> records, Clock::time_point start) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    FinishedRuns finished;
    for (std::size_t l = 0; l < records.size(); ++l)
      finished.runs.push_back(
          {{bundle.cell, bundle.seeds[l]}, std::move(records[l]), seconds / static_cast<double>(records.size())});
    session.finish(finished);
  };
  const auto run_own = [&](const Bundled& bundle, const Cell& cell) {
    const Clock::time_point start = Clock::now();
    double told = 0;  // of this run
    const auto progress = [&](double share) {
      progressed(cell.own_cost * (share - told));
      told = share;
    };
    Result<RunRecord> record = cell.own({bundle.seeds.front(), cell.own_learning_rate, cell.own_iterations,
                                         one_at_a_time ? threads : 1, settings.stop, progress});
    if (session.stopped()) return;  // it was cut short, and says nothing
    if (!record) return session.fail(record.error());
    progress(1);
    record->parameters.resize(record->rows());
    finish(bundle, {std::move(*record)}, start);
  };
  const auto train = [&]<class S>(const Bundled& bundle, S) {
    const Clock::time_point start = Clock::now();
    BundleRun<S> run(cells[bundle.cell], bundle.seeds, **target);
    if (run.train(progressed)) finish(bundle, run.finish(), start);
  };
  return session.run(bundles.size(), one_at_a_time ? 1 : threads, [&](std::size_t k) {
    const Cell& cell = cells[bundles[k].cell];
    if (cell.own) {
      run_own(bundles[k], cell);
    } else if (cell.precision == Precision::Float) {
      train(bundles[k], float());
    } else {
      train(bundles[k], double());
    }
  });
}

}  // namespace nalm
