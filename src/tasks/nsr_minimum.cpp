// The minimum of a sequence: a Neural Status Register keeps the smaller of what it has and what comes.
#include "tasks/nsr.hpp"

namespace nalm {
namespace nsr_minimum_task {
namespace {

// h = x_0; h = y*h + (1 - y)*x_i with y = NSR(h, x_i).
Wiring wiring_of(const Stack& stack, int length) {
  Wiring wiring(length);
  int h = wiring.pick({{0, 0}});
  for (int i = 1; i < length; ++i) {
    const int x = wiring.pick({{0, i}});
    h = wiring.mix(answer_of(wiring, stack, wiring.pick({{h, 0}, {0, i}}), 0), h, x);
  }
  return wiring;
}

Wiring recurrent(const Stack& stack, int length) {
  std::vector<std::vector<int>> steps;
  for (int i = 0; i < length; ++i) steps.push_back({i});
  return lstm_wiring(stack, length, steps);
}

Rows draw(Xoshiro& stream, int length, int limit, bool /*for_test*/) {
  Rows rows;
  for (int k = 0; k < SequenceTask::rows; ++k) {
    double smallest = limit;
    for (int i = 0; i < length; ++i) {
      rows.x.push_back(whole_number(stream, 1, limit));
      smallest = std::min(smallest, rows.x.back());
    }
    rows.t.push_back(smallest);
  }
  return rows;
}

constexpr std::array test_limits{10, 80, 640, 5120};
constexpr SequenceTask task{"minimum", "nsr minimum", test_limits, 80, wiring_of, recurrent, 1, draw};

}  // namespace
}  // namespace nsr_minimum_task

extern const Task nsr_minimum{
    .name = "nsr-minimum",
    .title = "The minimum of a sequence, learned by the Neural Status Register",
    .source = "Faber, Wattenhofer: Neural Status Registers, ICML 2023 (arXiv 2020)",
    .settings =
        "h = x_1; h = y*h + (1 - y)*x_i with y = NSR(h, x_i), redundancy 10, lambda 1. 400 sequences of 5 whole "
        "numbers from 1 to 10; loss: mean absolute error of the last h; full batch, Adam with 0.001, 50,000 steps, "
        "double precision. Tested on longer sequences (\"of 50\") of larger numbers (\"up to 5120\"); success: "
        "an error below 0.1 for 50 numbers up to 80.",
    .differences =
        {"The register's answer is never rounded: what is left of (1 - y)*x grows with the values.",
         "No figure was published to compare with: the public code counts instead, and its \"minimum\" figure is a "
         "copy of the counting one. The survey, after the arXiv version, calls the minimum perfect.",
         "Baselines: a perceptron, and NAU and NALU with a sigmoid, answer in the register's place; the LSTM has 10 "
         "units."},
    .presets = {{"quick", "3,000 steps", 4, "2 s"},
                {"full", "50,000 steps", 10, "2 min"},
                {"baselines", "a perceptron, NAU, NALU and an LSTM, 50,000 steps", 4, "20 min"}},
    .checks = {{"NSR", "minimum", "redundancy 10", "success", true, 1},
               {"NSR", "minimum", "redundancy 10", "mae of 20 up to 80", false, 0.1}},
    .preset_cells = [](std::string_view preset) { return nsr_minimum_task::task.cells(preset, 3000); },
};

}  // namespace nalm
