// Trains a module of one's own, which the library does not have, and goes on from a checkpoint.
#include <cstdio>
#include <string>

#include <nalm/nalm.hpp>

namespace {

int failure(const std::string& what) {
  std::fprintf(stderr, "own_module: %s\n", what.c_str());
  return 1;
}

void differences(int run, long iteration, std::span<double> x, std::span<double> t) {
  for (std::size_t k = 0; k < t.size(); ++k) {
    x[2 * k] = 1 + 0.01 * static_cast<double>((iteration * 7 + run + static_cast<long>(k) * 13) % 100);
    x[2 * k + 1] = 1 + 0.01 * static_cast<double>((iteration * 11 + run + static_cast<long>(k) * 29) % 100);
    t[k] = x[2 * k] - x[2 * k + 1];
  }
}

}  // namespace

int main() {
  const auto module = nalm::find_module("sine-sum");
  if (!module) return failure(module.error().message);
  if (!nalm::find_module("NAU")) return failure("the library's own modules are gone");
  const auto check = nalm::check_gradients(**module, {});
  if (!check || !check->passed) return failure("the gradients are wrong");

  const auto stack = nalm::parse_stack("SINE-SUM:1", 2);
  if (!stack) return failure(stack.error().message);
  auto trainer = nalm::Trainer::create(nalm::default_training(*stack));
  if (!trainer) return failure(trainer.error().message);
  if (const auto started = trainer->start(0, 1); !started) return failure(started.error().message);
  if (const auto trained = trainer->train(8000, differences); !trained) return failure(trained.error().message);
  auto second = nalm::Trainer::from_checkpoint(*trainer->checkpoint(), "checkpoint");
  if (!second) return failure(second.error().message);
  if (const auto trained = second->train(8000, differences); !trained) return failure(trained.error().message);

  const auto model = second->model(0);
  if (!model) return failure(model.error().message);
  const auto formula = nalm::ideal_formula(*model, {"a", "b"});
  if (!formula) return failure(formula.error().message);
  const std::string text = nalm::print(formula->outputs.front());
  std::printf("%s\n", text.c_str());
  return formula->discrete && text == "a - b" ? 0 : failure("the formula should be a - b");
}
