#include "tasks/lstm.hpp"

#include <fmt/format.h>

#include "experiment/task.hpp"

namespace nalm {

Stack lstm_stack(int inputs_of_step, int hidden) {
  const int seen = inputs_of_step + hidden;
  return {stack_of(fmt::format("Dense:{}(activation=sigmoid)", 3 * hidden), seen).front(),
          stack_of(fmt::format("Dense:{}(activation=tanh)", hidden), seen).front(),
          stack_of("Linear:1", hidden).front()};
}

Wiring lstm_wiring(const Stack& stack, int inputs, const std::vector<std::vector<int>>& steps) {
  const int hidden = stack.back().shape.inputs;
  Wiring wiring(inputs);
  int h = wiring.constant(0, hidden), c = wiring.constant(0, hidden);
  const auto part = [&](int node, int number) {
    std::vector<Wiring::Port> ports;
    for (int k = 0; k < hidden; ++k) ports.push_back({node, number * hidden + k});
    return wiring.pick(std::move(ports));
  };
  for (const std::vector<int>& step : steps) {
    std::vector<Wiring::Port> ports;
    for (const int input : step) ports.push_back({0, input});
    for (int k = 0; k < hidden; ++k) ports.push_back({h, k});
    const int seen = wiring.pick(std::move(ports));
    const int gates = wiring.layer(stack, 0, seen), g = wiring.layer(stack, 1, seen);
    const int kept = wiring.product(part(gates, 1), c), added = wiring.product(part(gates, 0), g);
    c = wiring.sum({{1, kept}, {1, added}});
    h = wiring.product(part(gates, 2), wiring.tanh(c));
  }
  wiring.layer(stack, 2, h);
  return wiring;
}

}  // namespace nalm
