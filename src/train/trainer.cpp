#include <chrono>
#include <exception>
#include <limits>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "train/trainer_state.hpp"

namespace nalm {

namespace {

bool is_same(const Stack& a, const Stack& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const LayerSpec& p, const LayerSpec& q) { return p.module == q.module && p.shape == q.shape; });
}

// So many iterations of one bundle, whose first run is `first`.
template <class S>
void advance(Bundle<S>& bundle, int first, int runs, int batch, long iterations, const BatchSource& source) {
  const int lanes = bundle.lanes();
  const std::size_t width = static_cast<std::size_t>(lanes);
  const std::size_t nx = static_cast<std::size_t>(batch) * static_cast<std::size_t>(bundle.network().inputs());
  const std::size_t nt = static_cast<std::size_t>(batch) * static_cast<std::size_t>(bundle.network().outputs());
  std::vector<double> x(nx), t(nt);
  AlignedVector<S> lane_x(nx * width, S(1)), lane_t(nt * width, S(1));
  for (long k = 0; k < iterations; ++k) {
    for (int lane = 0; lane < lanes && first + lane < runs; ++lane) {
      source(first + lane, bundle.iteration(), x, t);
      for (std::size_t j = 0; j < nx; ++j) lane_x[j * width + static_cast<std::size_t>(lane)] = static_cast<S>(x[j]);
      for (std::size_t j = 0; j < nt; ++j) lane_t[j * width + static_cast<std::size_t>(lane)] = static_cast<S>(t[j]);
    }
    bundle.step(lane_x.data(), lane_t.data(), batch);
  }
}

// How many iterations until somebody may look: all runs rest at the same iteration when a training is stopped, so they
// go in rounds of about a twentieth of a second where it can be.
class Rounds {
 public:
  explicit Rounds(bool can_stop) : next_(can_stop ? 1 : std::numeric_limits<long>::max()) {}
  long next() const { return next_; }
  void took(std::chrono::steady_clock::duration time) {
    if (time < std::chrono::milliseconds(25) && next_ < std::numeric_limits<long>::max() / 2) next_ *= 2;
    if (time > std::chrono::milliseconds(100)) next_ = std::max(1L, next_ / 2);
  }

 private:
  long next_;
};

}  // namespace

Status Trainer::State::check_run(int run) const {
  if (run >= 0 && run < settings.runs) return Done{};
  return Error{fmt::format("there is no run {}; the trainer has runs 0 to {}.", run, settings.runs - 1)};
}

Status Trainer::State::check_start(int run) {
  if (Status known = check_run(run); !known) return known;
  if (with(0, [](auto& bundle, int) { return bundle.iteration(); }) > 0)
    return Error{"start values come before the first iteration; make a new Trainer to start again."};
  return Done{};
}

Status Trainer::State::check_started() const {
  const auto missing = std::find(started.begin(), started.end(), false);
  if (missing == started.end()) return Done{};
  return Error{
      fmt::format("run {} has no start values; call start(), start_like_torch() or start_from() for every run.",
                  missing - started.begin())};
}

Trainer::Trainer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

Result<Trainer> Trainer::create(Settings settings) {
  if (Status fits = settings.wiring ? check_wiring(settings.stack, *settings.wiring) : check_stack(settings.stack);
      !fits) {
    return fits.error();
  }
  if (settings.runs < 1) return Error{fmt::format("a trainer needs at least 1 run, not {}.", settings.runs)};
  if (settings.threads < 0)
    return Error{fmt::format("{} threads cannot be had; 0 takes all processors.", settings.threads)};
  if (Status sensible = check_recipe(settings.recipe, settings.stack); !sensible) return sensible.error();
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  auto state = std::make_unique<State>();
  state->settings = std::move(settings);
  const Settings& own = state->settings;
  const auto add = [&](auto& bundles, int lanes) {
    const Wiring wiring = own.wiring ? *own.wiring : Wiring::of(own.stack);
    for (int first = 0; first < own.runs; first += lanes) bundles.emplace_back(own.stack, wiring, own.recipe, **target);
  };
  try {
    if (own.precision == Precision::Float) {
      add(state->in_float, (*target)->lanes<float>());
    } else {
      add(state->in_double, (*target)->lanes<double>());
    }
    state->started.assign(static_cast<std::size_t>(own.runs), false);
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("there is not enough memory for {} runs of this network.", own.runs)};
  }
  return Trainer(std::move(state));
}

Status Trainer::start(int run, std::uint64_t seed) {
  if (Status ready = state_->check_start(run); !ready) return ready;
  state_->with(run, [&](auto& bundle, int lane) { bundle.start(lane, std::make_shared<Xoshiro>(seed)); });
  state_->started[static_cast<std::size_t>(run)] = true;
  return Done{};
}

Status Trainer::start_like_torch(int run, std::uint32_t seed, int draws) {
  if (Status ready = state_->check_start(run); !ready) return ready;
  if (draws < 1) return Error{fmt::format("start values need at least 1 draw, not {}.", draws)};
  state_->with(run, [&](auto& bundle, int lane) {
    const auto stream = std::make_shared<TorchStream>(seed);
    for (int k = 0; k < draws; ++k) bundle.start(lane, stream);
  });
  state_->started[static_cast<std::size_t>(run)] = true;
  return Done{};
}

Status Trainer::start_from(int run, const Model& model, std::uint64_t seed) {
  if (Status whole = check_layers(model.layers); !whole) return whole;
  if (!is_same(model.stack(), state_->settings.stack)) {
    return Error{fmt::format("the model has the layers {}, but the trainer has {}.", print(model.stack()),
                             print(state_->settings.stack))};
  }
  if (Status started = start(run, seed); !started) return started;
  state_->with(run, [&](auto& bundle, int lane) {
    for (int k = 0; k < bundle.network().layer_count(); ++k)
      bundle.network().set_parameters(lane, k, model.layers[static_cast<std::size_t>(k)].parameters);
  });
  return Done{};
}

Status Trainer::train(long iterations, const BatchSource& source, const TrainWatch& watch) {
  if (!state_->failure.empty())
    return Error{
        fmt::format("an earlier training failed ({}); go on from a checkpoint, or start again.", state_->failure)};
  if (Status started = state_->check_started(); !started) return started;
  if (!source) return Error{"training needs a source of batches."};
  if (iterations < 0) return Error{fmt::format("{} iterations cannot be trained.", iterations)};
  if (iterations > std::numeric_limits<long>::max() - iteration())
    return Error{fmt::format("{} iterations are too many to count.", iterations)};
  if (watch.progress && watch.every < 1)
    return Error{fmt::format("TrainWatch::every must be at least 1, not {}.", watch.every)};
  const long last = iteration() + iterations;
  Rounds rounds(watch.stop.stop_possible());
  try {
    while (iteration() < last && !watch.stop.stop_requested()) {
      const long now = iteration();
      const long until_look = watch.progress ? watch.every - now % watch.every : last - now;
      const long round = std::min({last - now, until_look, rounds.next()});
      const auto begin = std::chrono::steady_clock::now();
      state_->with_all([&](auto& bundles) {
        parallel_for(static_cast<int>(bundles.size()), state_->settings.threads, [&](int b) {
          auto& bundle = bundles[static_cast<std::size_t>(b)];
          advance(bundle, b * bundle.lanes(), state_->settings.runs, state_->settings.recipe.training.batch, round,
                  source);
        });
      });
      rounds.took(std::chrono::steady_clock::now() - begin);
      if (watch.progress && iteration() % watch.every == 0) watch.progress(*this);
    }
  } catch (const std::exception& e) {
    state_->failure = e.what();
  } catch (...) {
    state_->failure = "an exception without a text";
  }
  if (!state_->failure.empty())
    return Error{fmt::format("training ended at about iteration {}: {}.", iteration(), state_->failure)};
  return Done{};
}

Status Trainer::train(const BatchSource& source, const TrainWatch& watch) {
  return train(std::max(0L, state_->settings.recipe.training.iterations - iteration()), source, watch);
}

Status Trainer::set_validation_error(int run, double error) {
  if (Status known = state_->check_run(run); !known) return known;
  state_->with(run, [&](auto& bundle, int lane) { bundle.set_validation_error(lane, error); });
  return Done{};
}

int Trainer::runs() const { return state_->settings.runs; }

long Trainer::iteration() const {
  return state_->with(0, [](auto& bundle, int) { return bundle.iteration(); });
}

Result<std::vector<Layer>> Trainer::layers(int run) const {
  if (Status known = state_->check_run(run); !known) return known.error();
  if (!state_->started[static_cast<std::size_t>(run)])
    return Error{fmt::format("run {} has no start values yet, so there is nothing to see.", run)};
  return state_->with(run, [](auto& bundle, int lane) { return bundle.network().model(lane).layers; });
}

Result<Model> Trainer::model(int run) const {
  if (!state_->with(0, [](auto& bundle, int) { return bundle.network().is_stack(); }))
    return Error{"this network is wired, and a model is a plain stack; use layers() and predict() of the trainer."};
  Result<std::vector<Layer>> found = layers(run);
  if (!found) return found.error();
  Model model;
  model.layers = *std::move(found);
  return model;
}

Result<std::vector<double>> Trainer::predict(int run, std::span<const double> rows) const {
  if (const Result<std::vector<Layer>> there = layers(run); !there) return there.error();
  return state_->with(run, [&](auto& bundle, int lane) -> Result<std::vector<double>> {
    auto& network = bundle.network();
    using S = std::remove_cvref_t<decltype(*network.values(0).parameters)>;
    const std::size_t inputs = static_cast<std::size_t>(network.inputs()),
                      lanes = static_cast<std::size_t>(bundle.lanes()),
                      outputs = static_cast<std::size_t>(network.outputs()), own = static_cast<std::size_t>(lane);
    if (rows.size() % inputs != 0)
      return Error{fmt::format("{} numbers are not whole rows of {} inputs.", rows.size(), inputs)};
    network.update_weights();
    AlignedVector<S> x(inputs * lanes), y(outputs * lanes);
    std::vector<double> result;
    for (std::size_t row = 0; row < rows.size(); row += inputs) {
      for (std::size_t k = 0; k < inputs * lanes; ++k) x[k] = static_cast<S>(rows[row + k / lanes]);
      network.predict(x.data(), y.data(), 1);
      for (std::size_t o = 0; o < outputs; ++o) result.push_back(static_cast<double>(y[o * lanes + own]));
    }
    return result;
  });
}

Trainer::Settings default_training(const Stack& stack) {
  Trainer::Settings settings;
  settings.stack = stack;
  settings.recipe = default_recipe(stack);
  return settings;
}

}  // namespace nalm
