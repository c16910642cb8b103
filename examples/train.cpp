// Trains eight NAU layers at once on y = x1 - x2, and prints the formula that each one's weights spell.
#include <cstdint>
#include <cstdio>

#include "nalm/nalm.hpp"

// Any function of run and iteration will do; this one is a multiplicative hash.
static double uniform(int run, long iteration, std::size_t k) {
  std::uint64_t bits = static_cast<std::uint64_t>(run) * 0x9e3779b97f4a7c15u +
                       static_cast<std::uint64_t>(iteration) * 0xbf58476d1ce4e5b9u + k;
  bits = (bits ^ (bits >> 31)) * 0x94d049bb133111ebu;
  return static_cast<double>((bits ^ (bits >> 29)) >> 11) * 0x1p-53;
}

int main() {
  const auto stack = nalm::parse_stack("NAU:1", 2);
  if (!stack) return std::fprintf(stderr, "%s\n", stack.error().message.c_str()), 2;
  nalm::Trainer::Settings settings = nalm::default_training(*stack);
  settings.runs = 8;

  auto trainer = nalm::Trainer::create(settings);
  if (!trainer) return std::fprintf(stderr, "%s\n", trainer.error().message.c_str()), 2;
  for (int run = 0; run < settings.runs; ++run) {
    const nalm::Status started = trainer->start(run, static_cast<std::uint64_t>(run));
    if (!started) return std::fprintf(stderr, "%s\n", started.error().message.c_str()), 2;
  }

  const nalm::Status trained =
      trainer->train(20000, [](int run, long iteration, std::span<double> x, std::span<double> t) {
        for (std::size_t k = 0; k < t.size(); ++k) {
          x[2 * k] = 1 + uniform(run, iteration, 2 * k);
          x[2 * k + 1] = 1 + uniform(run, iteration, 2 * k + 1);
          t[k] = x[2 * k] - x[2 * k + 1];
        }
      });
  if (!trained) return std::fprintf(stderr, "%s\n", trained.error().message.c_str()), 2;

  for (int run = 0; run < settings.runs; ++run) {
    const nalm::Model model = *trainer->model(run);
    const double outside[] = {1000, 250};  // far from the training range [1, 2)
    const auto y = nalm::predict(model, outside, nalm::Precision::Float);
    const auto formula = nalm::ideal_formula(model, {});
    std::printf("run %d: y = %s, at (1000, 250): %g\n", run, nalm::print(formula->outputs[0]).c_str(), (*y)[0]);
  }
}
