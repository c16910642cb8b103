// How often the first number of a sequence comes again: a Neural Status Register compares, a sum counts.
#include <fmt/format.h>

#include <array>

#include "tasks/nsr.hpp"

namespace nalm {
namespace {

// Lengths count the numbers after the key.
constexpr int sequences = 400, training_length = 5, training_limit = 10, redundancy = 10;
constexpr std::array test_lengths{5, 10, 20, 50};
constexpr std::array test_limits{10, 320, 10240};

// The sum over i of 1 - NSR(x_0, x_i): the second output.
Wiring wiring_of(const Stack& stack, int length) {
  Wiring wiring(1 + length);
  std::vector<Wiring::Term> terms;
  for (int i = 1; i <= length; ++i)
    terms.push_back({1, wiring.pick({{wiring.layer(stack, 0, wiring.pick({{0, 0}, {0, i}})), 1}})});
  wiring.sum(std::move(terms));
  return wiring;
}

std::unique_ptr<RunData> data_of(std::uint32_t seed) {
  Xoshiro stream = stream_of("nsr counting", seed);
  const auto draw = [&](int length, int limit, bool near) {
    Rows rows;
    for (int k = 0; k < sequences; ++k) {
      const double key = whole_number(stream, 1, limit);
      rows.x.push_back(key);
      double count = 0;
      for (int i = 0; i < length; ++i) {
        rows.x.push_back(near ? whole_number(stream, key - 5, key + 5) : whole_number(stream, 1, limit));
        count += rows.x.back() == key ? 1 : 0;
      }
      rows.t.push_back(count);
    }
    return rows;
  };
  Rows training = draw(training_length, training_limit, false);
  std::vector<Rows> sets;
  for (const int length : test_lengths)
    for (const int limit : test_limits) sets.push_back(draw(length, limit, true));
  return std::make_unique<FullBatch>(std::move(training), std::move(sets));
}

std::vector<Arm> arms(std::string_view preset) {
  Arm arm;
  arm.model = "NSR";
  arm.operation = "count";
  arm.setting = fmt::format("redundancy {}", redundancy);
  arm.stack = stack_of(fmt::format("NSR:2(redundancy={})", redundancy), 2);
  arm.wiring = wiring_of(arm.stack, training_length);
  arm.recipe = nsr_recipe(arm.stack, preset == "quick" ? 5000 : 50000, sequences);
  arm.precision = Precision::Double;
  for (const int length : test_lengths) {
    for (const int limit : test_limits) {
      arm.measures.push_back({fmt::format("mae of {} up to {}", length, limit), Measure::Kind::Mae,
                              static_cast<int>(arm.set_wirings.size())});
      arm.set_wirings.push_back(wiring_of(arm.stack, length));
    }
  }
  arm.goal = {.measure = "mae of 50 up to 10240", .limit = 0.1};
  arm.data = data_of;
  return {arm};
}

constexpr std::string_view differences[] = {
    "Lengths count the numbers after the key: training sequences have 6 numbers, 5 to compare.",
    "Training sequences are uniform from 1 to 10, the key too: an assumption.",
};
constexpr TaskPreset presets[] = {
    {"quick", "5,000 steps", 4, "3 s"},
    {"full", "50,000 steps", 10, "50 s"},
};
constexpr Check checks[] = {
    {"NSR", "count", "redundancy 10", "mae of 5 up to 10240", false, 0.1},
    {"NSR", "count", "redundancy 10", "mae of 50 up to 10240", false, 0.5},
};

}  // namespace

extern const Task nsr_counting{
    .name = "nsr-counting",
    .title = "Counting the first number's returns in a sequence, learned by the Neural Status Register",
    .source = "Faber, Wattenhofer: Neural Status Registers, ICML 2023 (arXiv 2020)",
    .settings =
        "The sum over i of 1 - y with y = NSR(key, x_i), redundancy 10, lambda 1. 400 sequences of a key and 5 whole "
        "numbers, all from 1 to 10; loss: mean absolute error; full batch, Adam with 0.001, 50,000 steps, double "
        "precision. Tested on longer sequences (\"of 50\") of numbers at most 5 away from larger keys (\"up to "
        "10240\"); success: an error below 0.1 for 50 numbers and keys up to 10240.",
    .differences = differences,
    .presets = presets,
    .checks = checks,
    .arms = arms,
};

}  // namespace nalm
