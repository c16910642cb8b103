// Six comparisons of two numbers, learned from small ones by the Neural Status Register and asked about large ones.
#include <fmt/format.h>

#include <array>

#include "nalm/detail/portable.hpp"
#include "tasks/nsr.hpp"

namespace nalm {
namespace nsr_comparisons_task {
namespace {

struct Relation {
  std::string_view name;
  bool (*holds)(double a, double b);
  bool is_equality;
};

constexpr Relation relations[] = {
    {">", [](double a, double b) { return a > b; }, false},   {"<", [](double a, double b) { return a < b; }, false},
    {">=", [](double a, double b) { return a >= b; }, false}, {"<=", [](double a, double b) { return a <= b; }, false},
    {"=", [](double a, double b) { return a == b; }, true},   {"!=", [](double a, double b) { return a != b; }, true},
};

constexpr std::array powers{1, 2, 4, 7, 10, 12, 14};
// Beyond 10^7 a double has too few digits left for differences of 0.01.
constexpr std::size_t powers_of_fractions = 4;

// Numbers are whole and differ by 1, or multiples of delta around a number that is not whole.
std::unique_ptr<RunData> data_of(const Relation& relation, double delta, std::uint32_t seed) {
  Xoshiro stream = stream_of("nsr comparisons", seed);
  const auto add = [&](Rows& rows, double a, double b) {
    rows.x.insert(rows.x.end(), {a, b});
    rows.t.push_back(relation.holds(a, b) ? 1 : 0);
  };
  Rows training;
  for (int i = 1; i <= 9; ++i) {
    if (relation.is_equality) {  // as many equal pairs as others
      const double other = whole_number(stream, 1, 8);
      add(training, i * delta, i * delta);
      add(training, i * delta, (other < i ? other : other + 1) * delta);
    } else {
      for (int j = 1; j <= 9; ++j) add(training, i * delta, j * delta);
    }
  }
  std::vector<Rows> sets(1);  // the first holds all of the others
  for (std::size_t k = 0; k < (delta == 1 ? powers.size() : powers_of_fractions); ++k) {
    Rows rows;
    const double lowest = portable::pow(10.0, powers[k]);
    const double a = delta == 1 ? whole_number(stream, lowest, 10 * lowest - 1) : stream.between(lowest, 10 * lowest);
    for (int i = -5; i <= 5; ++i) {
      if (relation.is_equality) {
        if (i == 0) continue;
        add(rows, a, a + i * delta);
        add(rows, a + i * delta, a + i * delta);
      } else {
        add(rows, a, a + i * delta);
        add(rows, a + i * delta, a);
      }
    }
    sets.front().x.insert(sets.front().x.end(), rows.x.begin(), rows.x.end());
    sets.front().t.insert(sets.front().t.end(), rows.t.begin(), rows.t.end());
    sets.push_back(std::move(rows));
  }
  return std::make_unique<FullBatch>(std::move(training), std::move(sets));
}

Cell cell_of(const Relation& relation, std::string_view model, std::string_view stack, std::string setting,
             long iterations, double delta = 1) {
  Cell cell(model, relation.name, setting);
  cell.stack = stack_of(stack, 2);
  if (cell.stack.size() == 1) {  // the register's first output
    Wiring wiring(2);
    wiring.pick({{wiring.layer(cell.stack, 0, 0), 0}});
    cell.wiring = wiring;
  }
  cell.recipe = nsr_recipe(cell.stack, iterations, relation.is_equality ? 18 : 81);
  cell.precision = Precision::Double;
  cell.log_every = iterations / 50;
  cell.measures = {{"accuracy", Measure::Kind::Within, 0, 0.5}, {"mae", Measure::Kind::Mae, 0}};
  for (std::size_t k = 0; k < (delta == 1 ? powers.size() : powers_of_fractions); ++k) {
    const int set = static_cast<int>(k) + 1;
    cell.measures.push_back({fmt::format("accuracy at 1e{}", powers[k]), Measure::Kind::Within, set, 0.5});
    cell.measures.push_back({fmt::format("mae at 1e{}", powers[k]), Measure::Kind::Mae, set});
  }
  cell.goal = {.measure = "accuracy", .limit = 0.9999, .above = true};  // every answer is right, whatever the power
  cell.data = [&relation, delta](std::uint32_t seed) { return data_of(relation, delta, seed); };
  return cell;
}

struct Baseline {
  std::string_view model, setting, stack;
};
constexpr Baseline baselines[] = {
    {"MLP", "20 hidden", "Dense:20(activation=sigmoid),Dense:1(activation=sigmoid)"},
    {"NAU", "and sigmoid", "NAU:1,Dense:1(activation=sigmoid)"},
    {"NALU", "and sigmoid", "NALU:1,Dense:1(activation=sigmoid)"},
    {"NPU", "and sigmoid", "NPU:1,Dense:1(activation=sigmoid)"},
};

std::vector<Cell> cells(std::string_view preset) {
  constexpr long steps = 50000;
  std::vector<Cell> result;
  for (const Relation& relation : relations) {
    const auto add_nsr = [&](double lambda, int redundancy, std::string setting, long iterations) {
      const std::string stack = fmt::format("NSR:2(lambda={},redundancy={})", lambda, redundancy);
      result.push_back(cell_of(relation, "NSR", stack, std::move(setting), iterations));
    };
    // The register sees differences times lambda, which is why lambda grows as they shrink.
    const auto add_fractions = [&](double delta, long iterations) {
      const std::string stack = fmt::format("NSR:2(lambda={},redundancy=10)", 1 / delta);
      result.push_back(cell_of(relation, "NSR", stack, fmt::format("delta {}", delta), iterations, delta));
    };
    if (preset == "quick") {
      add_nsr(1, 10, "redundancy 10", 3000);
      if (relation.name == ">") add_fractions(0.1, 3000);
    } else if (preset == "float") {
      for (const double delta : {0.1, 0.01}) add_fractions(delta, steps);
      result.push_back(cell_of(relation, "NSR", "NSR:2(redundancy=10)", "delta 0.01, lambda 1", steps, 0.01));
      for (const Baseline& baseline : baselines)
        result.push_back(cell_of(relation, baseline.model, baseline.stack, "delta 0.1", steps, 0.1));
    } else if (preset == "lambda") {
      if (relation.name != ">" && relation.name != "=") continue;
      for (const double lambda : {1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0})
        add_nsr(lambda, 10, fmt::format("lambda*delta={}", lambda), steps);
    } else {
      add_nsr(1, 10, "redundancy 10", steps);
      add_nsr(1, 1, "redundancy 1", steps);
      for (const Baseline& baseline : baselines)
        result.push_back(cell_of(relation, baseline.model, baseline.stack, std::string(baseline.setting), steps));
    }
  }
  return result;
}

}  // namespace
}  // namespace nsr_comparisons_task

extern const Task nsr_comparisons{
    .name = "nsr-comparisons",
    .title = "Comparisons of two numbers, learned by the Neural Status Register",
    .source = "Faber, Wattenhofer: Neural Status Registers, ICML 2023 (arXiv 2020)",
    .settings =
        "Trained on the 81 pairs of 1 to 9; for = and != on 18, half of them equal. Loss: mean absolute error; "
        "full batch, Adam with 0.001, 50,000 steps, double precision, lambda 1. Tested on pairs that differ by "
        "at most 5, at a random number from 10^k to 10^(k+1), for k from 1 to 14. Accuracy: the share of errors "
        "below 0.5; success: all right.",
    .differences =
        {"Labels and redundancy follow the paper's mathematics: its public code computes labels from 10000*x1, has "
         "> for >= and pins the redundancy to 1.",
         "Tested at seven powers of ten; the register depends on the difference only, so that all of them give the "
         "same.",
         "The sweep of lambda*delta changes lambda and leaves the difference delta at 1; only the product matters. "
         "Redundancy 10 is an assumption there.",
         "Baselines: a perceptron, and NAU, NALU and NPU with one output and a dense layer with a sigmoid behind it.",
         "The preset float has numbers that are not whole: multiples of delta in training, and in the test pairs that "
         "differ by at most 5 delta, at a random real number up to 10^8. lambda is 1/delta, but for one row that keeps "
         "it at 1. The paper says that there is such a setting, not more."},
    .presets = {{"quick", "redundancy 10, 3,000 steps", 4, "0.5 s"},
                {"full", "redundancy 10 and 1, and four baselines", 10, "4 min"},
                {"float", "fractions: differences of 0.1 and 0.01, and the baselines", 10, "4 min"},
                {"lambda", "> and = with lambda*delta from 1e-5 to 10", 10, "30 s"}},
    .checks = {{"NSR", ">", "redundancy 10", "success", true, 1},
               {"NSR", "<", "redundancy 10", "success", true, 1},
               {"NSR", ">=", "redundancy 10", "success", true, 1},
               {"NSR", "<=", "redundancy 10", "success", true, 1},
               {"NSR", ">", "delta 0.1", "success", true, 1},
               {"NSR", "=", "redundancy 10", "accuracy", true, 0.85},
               {"NSR", "!=", "redundancy 10", "accuracy", true, 0.85}},
    .preset_cells = nsr_comparisons_task::cells,
};

}  // namespace nalm
