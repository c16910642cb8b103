// The minimum of a sequence: a Neural Status Register keeps the smaller of what it has and what comes.
#include <fmt/format.h>

#include <array>

#include "tasks/nsr.hpp"

namespace nalm {
namespace {

constexpr int sequences = 400, training_length = 5, training_limit = 10, redundancy = 10;
constexpr std::array test_lengths{5, 10, 20, 50};
constexpr std::array test_limits{10, 80, 640, 5120};

// h = x_0; h = y*h + (1 - y)*x_i with y = NSR(h, x_i).
Wiring wiring_of(const Stack& stack, int length) {
  Wiring wiring(length);
  int h = wiring.pick({{0, 0}});
  for (int i = 1; i < length; ++i) {
    const int x = wiring.pick({{0, i}});
    h = wiring.mix({wiring.layer(stack, 0, wiring.pick({{h, 0}, {0, i}})), 0}, h, x);
  }
  return wiring;
}

std::unique_ptr<RunData> data_of(std::uint32_t seed) {
  Xoshiro stream = stream_of("nsr minimum", seed);
  const auto draw = [&](int length, int limit) {
    Rows rows;
    for (int k = 0; k < sequences; ++k) {
      double smallest = limit;
      for (int i = 0; i < length; ++i) {
        rows.x.push_back(whole_number(stream, 1, limit));
        smallest = std::min(smallest, rows.x.back());
      }
      rows.t.push_back(smallest);
    }
    return rows;
  };
  Rows training = draw(training_length, training_limit);
  std::vector<Rows> sets;
  for (const int length : test_lengths)
    for (const int limit : test_limits) sets.push_back(draw(length, limit));
  return std::make_unique<FullBatch>(std::move(training), std::move(sets));
}

std::vector<Arm> arms(std::string_view preset) {
  Arm arm;
  arm.model = "NSR";
  arm.operation = "minimum";
  arm.setting = fmt::format("redundancy {}", redundancy);
  arm.stack = stack_of(fmt::format("NSR:2(redundancy={})", redundancy), 2);
  arm.wiring = wiring_of(arm.stack, training_length);
  arm.recipe = nsr_recipe(arm.stack, preset == "quick" ? 3000 : 50000, sequences);
  arm.precision = Precision::Double;
  for (const int length : test_lengths) {
    for (const int limit : test_limits) {
      arm.measures.push_back({fmt::format("mae of {} up to {}", length, limit), Measure::Kind::Mae,
                              static_cast<int>(arm.set_wirings.size())});
      arm.set_wirings.push_back(wiring_of(arm.stack, length));
    }
  }
  arm.goal = {.measure = "mae of 50 up to 80", .limit = 0.1};
  arm.data = data_of;
  return {arm};
}

constexpr std::string_view differences[] = {
    "The register's answer is never rounded: what is left of (1 - y)*x grows with the values.",
    "No figure was published to compare with: the public code counts instead, and its \"minimum\" figure is a copy of "
    "the counting one. The survey, after the arXiv version, calls the minimum perfect.",
};
constexpr TaskPreset presets[] = {
    {"quick", "3,000 steps", 4, "2 s"},
    {"full", "50,000 steps", 10, "45 s"},
};
constexpr Check checks[] = {
    {"NSR", "minimum", "redundancy 10", "success", true, 1},
    {"NSR", "minimum", "redundancy 10", "mae of 20 up to 80", false, 0.1},
};

}  // namespace

extern const Task nsr_minimum{
    .name = "nsr-minimum",
    .title = "The minimum of a sequence, learned by the Neural Status Register",
    .source = "Faber, Wattenhofer: Neural Status Registers, ICML 2023 (arXiv 2020)",
    .settings =
        "h = x_1; h = y*h + (1 - y)*x_i with y = NSR(h, x_i), redundancy 10, lambda 1. 400 sequences of 5 whole "
        "numbers from 1 to 10; loss: mean absolute error of the last h; full batch, Adam with 0.001, 50,000 steps, "
        "double precision. Tested on longer sequences (\"of 50\") of larger numbers (\"up to 5120\"); success: "
        "an error below 0.1 for 50 numbers up to 80.",
    .differences = differences,
    .presets = presets,
    .checks = checks,
    .arms = arms,
};

}  // namespace nalm
