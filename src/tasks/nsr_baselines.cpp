// What the Neural Status Register is compared with on sequences: other units in its place, and an LSTM.
#include "tasks/nsr.hpp"

namespace nalm {

Stack lstm_stack(int inputs_of_step, int hidden) {
  const auto layer = [&](std::string_view text, int inputs) { return stack_of(text, inputs).front(); };
  const std::string gate = fmt::format("Dense:{}(activation=sigmoid)", hidden),
                    squashed = fmt::format("Dense:{}(activation=tanh)", hidden);
  const int seen = inputs_of_step + hidden;
  return {layer(gate, seen),     layer(gate, seen),       layer(gate, seen),
          layer(squashed, seen), layer(squashed, hidden), layer("Linear:1", hidden)};
}

Wiring lstm_wiring(const Stack& stack, int inputs, const std::vector<std::vector<int>>& steps) {
  const int hidden = stack.back().shape.inputs;
  Wiring wiring(inputs);
  const int zero = wiring.constant(0, 1);
  int state = wiring.constant(0, hidden), cell = state;
  // gate*node, value by value.
  const auto gated = [&](int gate, int node, int value) {
    return wiring.mix({gate, value}, wiring.pick({{node, value}}), zero);
  };
  const auto joined = [&](const std::vector<int>& nodes) {
    std::vector<Wiring::Port> ports;
    for (const int node : nodes) ports.push_back({node, 0});
    return wiring.pick(std::move(ports));
  };
  for (const std::vector<int>& step : steps) {
    std::vector<Wiring::Port> ports;
    for (const int input : step) ports.push_back({0, input});
    for (int k = 0; k < hidden; ++k) ports.push_back({state, k});
    const int seen = wiring.pick(std::move(ports));
    const int take = wiring.layer(stack, 0, seen), keep = wiring.layer(stack, 1, seen),
              give = wiring.layer(stack, 2, seen), candidates = wiring.layer(stack, 3, seen);
    std::vector<int> cells, states;
    for (int k = 0; k < hidden; ++k)
      cells.push_back(wiring.sum({{1, gated(keep, cell, k)}, {1, gated(take, candidates, k)}}));
    cell = joined(cells);
    const int shown = wiring.layer(stack, 4, cell);
    for (int k = 0; k < hidden; ++k) states.push_back(gated(give, shown, k));
    state = joined(states);
  }
  wiring.layer(stack, 5, state);
  return wiring;
}

std::vector<Cell> SequenceTask::baselines(long iterations) const {
  constexpr int hidden = 10;
  struct Baseline {
    std::string_view model, setting, stack;
  };
  constexpr Baseline in_its_place[] = {
      {"MLP", "20 hidden", "Dense:20(activation=sigmoid),Dense:1(activation=sigmoid)"},
      {"NAU", "and sigmoid", "NAU:1,Dense:1(activation=sigmoid)"},
      {"NALU", "and sigmoid", "NALU:1,Dense:1(activation=sigmoid)"},
  };
  std::vector<Cell> cells;
  for (const Baseline& baseline : in_its_place)
    cells.push_back(
        cell(baseline.model, std::string(baseline.setting), stack_of(baseline.stack, 2), wiring, iterations));
  cells.push_back(
      cell("LSTM", fmt::format("{} hidden", hidden), lstm_stack(inputs_of_step, hidden), recurrent_wiring, iterations));
  return cells;
}

}  // namespace nalm
