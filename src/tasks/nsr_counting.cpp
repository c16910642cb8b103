// How often the first number of a sequence comes again: a Neural Status Register compares, a sum counts.
#include "tasks/nsr.hpp"

namespace nalm {
namespace nsr_counting_task {
namespace {

// The sum over i of 1 - NSR(x_0, x_i): the second output.
Wiring wiring_of(const Stack& stack, int length) {
  Wiring wiring(1 + length);
  std::vector<Wiring::Term> terms;
  for (int i = 1; i <= length; ++i)
    terms.push_back({1, wiring.pick({answer_of(wiring, stack, wiring.pick({{0, 0}, {0, i}}), 1)})});
  wiring.sum(std::move(terms));
  return wiring;
}

Wiring recurrent(const Stack& stack, int length) {
  std::vector<std::vector<int>> steps;
  for (int i = 1; i <= length; ++i) steps.push_back({0, i});
  return lstm_wiring(stack, 1 + length, steps);
}

Rows draw(Xoshiro& stream, int length, int limit, bool for_test) {
  Rows rows;
  for (int k = 0; k < SequenceTask::rows; ++k) {
    const double key = whole_number(stream, 1, limit);
    rows.x.push_back(key);
    double count = 0;
    for (int i = 0; i < length; ++i) {
      rows.x.push_back(for_test ? whole_number(stream, key - 5, key + 5) : whole_number(stream, 1, limit));
      count += rows.x.back() == key ? 1 : 0;
    }
    rows.t.push_back(count);
  }
  return rows;
}

// Lengths count the numbers after the key.
constexpr std::array test_limits{10, 320, 10240};
constexpr SequenceTask task{"count", "nsr counting", test_limits, 10240, wiring_of, recurrent, 2, draw};

}  // namespace
}  // namespace nsr_counting_task

extern const Task nsr_counting{
    .name = "nsr-counting",
    .title = "Counting the first number's returns in a sequence, learned by the Neural Status Register",
    .source = "Faber, Wattenhofer: Neural Status Registers, ICML 2023 (arXiv 2020)",
    .settings =
        "The sum over i of 1 - y with y = NSR(key, x_i), redundancy 10, lambda 1. 400 sequences of a key and 5 whole "
        "numbers, all from 1 to 10; loss: mean absolute error; full batch, Adam with 0.001, 50,000 steps, double "
        "precision. Tested on longer sequences (\"of 50\") of numbers at most 5 away from larger keys (\"up to "
        "10240\"); success: an error below 0.1 for 50 numbers and keys up to 10240.",
    .differences = {"Lengths count the numbers after the key: training sequences have 6 numbers, 5 to compare.",
                    "Training sequences are uniform from 1 to 10, the key too: an assumption.",
                    "Baselines: a perceptron, and NAU and NALU with a sigmoid, answer in the register's place; the "
                    "LSTM has 10 units and sees the key in every step."},
    .presets = {{"quick", "5,000 steps", 4, "3 s"},
                {"full", "50,000 steps", 10, "1.5 min"},
                {"baselines", "a perceptron, NAU, NALU and an LSTM, 50,000 steps", 4, "20 min"}},
    .checks = {{"NSR", "count", "redundancy 10", "mae of 5 up to 10240", false, 0.1},
               {"NSR", "count", "redundancy 10", "mae of 50 up to 10240", false, 0.5}},
    .preset_cells = [](std::string_view preset) { return nsr_counting_task::task.cells(preset, 5000); },
};

}  // namespace nalm
