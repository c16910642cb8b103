// What the Neural Status Register is compared with on sequences: other units in its place, and an LSTM.
#include "tasks/nsr.hpp"

namespace nalm {

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
