#include <variant>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "nalm/train.hpp"
#include "train/bundle.hpp"

namespace nalm {

struct Trainer::State {
  Settings settings;
  // One or the other, by precision.
  std::vector<Bundle<float>> in_float;
  std::vector<Bundle<double>> in_double;

  // f(bundle, lane) for the bundle that holds a run.
  template <class F>
  auto with(int run, F f) {
    const int lanes = settings.precision == Precision::Float ? in_float.front().lanes() : in_double.front().lanes();
    const std::size_t bundle = static_cast<std::size_t>(run / lanes);
    return settings.precision == Precision::Float ? f(in_float[bundle], run % lanes)
                                                  : f(in_double[bundle], run % lanes);
  }

  template <class S>
  void train(std::vector<Bundle<S>>& bundles, long iterations, const BatchSource& source) const {
    parallel_for(static_cast<int>(bundles.size()), settings.threads, [&](int b) {
      Bundle<S>& bundle = bundles[static_cast<std::size_t>(b)];
      const int lanes = bundle.lanes(), batch = settings.recipe.training.batch;
      const std::size_t width = static_cast<std::size_t>(lanes);
      const std::size_t nx = static_cast<std::size_t>(batch * bundle.network().inputs());
      const std::size_t nt = static_cast<std::size_t>(batch * bundle.network().outputs());
      std::vector<double> x(nx), t(nt);
      AlignedVector<S> lane_x(nx * width, S(1)), lane_t(nt * width, S(1));
      for (long k = 0; k < iterations; ++k) {
        for (int lane = 0; lane < lanes && b * lanes + lane < settings.runs; ++lane) {
          source(b * lanes + lane, bundle.iteration(), x, t);
          for (std::size_t j = 0; j < nx; ++j)
            lane_x[j * width + static_cast<std::size_t>(lane)] = static_cast<S>(x[j]);
          for (std::size_t j = 0; j < nt; ++j)
            lane_t[j * width + static_cast<std::size_t>(lane)] = static_cast<S>(t[j]);
        }
        bundle.step(lane_x.data(), lane_t.data(), batch);
      }
    });
  }
};

Trainer::Trainer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

Result<Trainer> Trainer::create(Settings settings) {
  if (Status fits = check_stack(settings.stack); !fits) return fits.error();
  if (settings.runs < 1) return Error{fmt::format("a trainer needs at least 1 run, not {}.", settings.runs)};
  if (settings.recipe.training.batch < 1)
    return Error{fmt::format("a batch needs at least 1 row, not {}.", settings.recipe.training.batch)};
  if (settings.recipe.layers.size() != settings.stack.size())
    return Error{
        fmt::format("the recipe is for {} layers, but the stack has {}; default_training() makes one that fits.",
                    settings.recipe.layers.size(), settings.stack.size())};
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  auto state = std::make_unique<State>();
  const auto add = [&](auto& bundles, int lanes) {
    for (int first = 0; first < settings.runs; first += lanes)
      bundles.emplace_back(settings.stack, settings.recipe, **target);
  };
  if (settings.precision == Precision::Float) {
    add(state->in_float, (*target)->lanes<float>());
  } else {
    add(state->in_double, (*target)->lanes<double>());
  }
  state->settings = std::move(settings);
  return Trainer(std::move(state));
}

void Trainer::start(int run, std::uint64_t seed) {
  state_->with(run, [&](auto& bundle, int lane) { bundle.start(lane, std::make_shared<Xoshiro>(seed)); });
}

void Trainer::start_like_torch(int run, std::uint32_t seed, int draws) {
  state_->with(run, [&](auto& bundle, int lane) {
    const auto stream = std::make_shared<TorchStream>(seed);
    for (int k = 0; k < draws; ++k) bundle.start(lane, stream);
  });
}

void Trainer::train(long iterations, const BatchSource& source) {
  if (state_->settings.precision == Precision::Float) {
    state_->train(state_->in_float, iterations, source);
  } else {
    state_->train(state_->in_double, iterations, source);
  }
}

void Trainer::train(const BatchSource& source) {
  train(state_->settings.recipe.training.iterations - iteration(), source);
}

void Trainer::set_validation_error(int run, double error) {
  state_->with(run, [&](auto& bundle, int lane) { bundle.set_validation_error(lane, error); });
}

long Trainer::iteration() const {
  return state_->with(0, [](auto& bundle, int) { return bundle.iteration(); });
}

Model Trainer::model(int run) const {
  return state_->with(run, [](auto& bundle, int lane) { return bundle.network().model(lane); });
}

Trainer::Settings default_training(const Stack& stack) {
  Trainer::Settings settings;
  settings.stack = stack;
  settings.recipe = default_recipe(stack);
  return settings;
}

}  // namespace nalm
