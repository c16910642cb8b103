// Functions with two branches: a Neural Status Register learns the condition, two NAU rows learn the branches.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tasks/nsr.hpp"

namespace nalm {
namespace nsr_piecewise_task {
namespace {

struct Function {
  std::string_view name;
  int inputs;
  bool is_equality;  // the condition; half of the rows meet it then
  double (*value)(const double* x);
};

constexpr Function functions[] = {
    {"abs", 2, false, [](const double* x) { return std::fabs(x[0] - x[1]); }},
    {"f", 5, false, [](const double* x) { return x[0] > x[1] ? x[4] + 4 : x[3] - x[2]; }},
    {"g", 5, true, [](const double* x) { return x[0] == x[1] ? x[4] + 4 : x[3] - x[2]; }},
};

constexpr int copies = 10;       // rows for every pair of x1 and x2
constexpr int batch_rows = 400;  // all of abs, a tenth of the others
constexpr int first_power = 3, last_power = 14, anchors = 10;

class PiecewiseData final : public RunData {
 public:
  PiecewiseData(const Function& function, std::uint32_t seed)
      : function_(function), stream_(stream_of("nsr piecewise", seed)) {
    for (int copy = 0; copy < (function.inputs == 2 ? 1 : copies); ++copy) {
      for (int a = -10; a <= 9; ++a) {
        for (int b = -10; b <= 9; ++b) {
          const bool made_equal = function.is_equality && copy % 2 == 0;
          add(training_, a, made_equal ? a : b);
        }
      }
    }
    for (int power = first_power; power <= last_power; ++power) {
      Rows rows;
      for (int k = 0; k < anchors; ++k) {
        const double lowest = std::ldexp(1.0, power), a = whole_number(stream_, lowest, 2 * lowest - 1);
        for (int i = -5; i <= 5; ++i) {
          add(rows, a, a + i);
          if (function.is_equality && i != 0) add(rows, a + i, a + i);
        }
      }
      sets_.push_back(std::move(rows));
    }
  }

  void batch(long, std::span<double> x, std::span<double> t) override {
    const std::size_t inputs = static_cast<std::size_t>(function_.inputs), rows = training_.t.size();
    for (std::size_t k = 0; k < t.size(); ++k) {
      const std::size_t row = t.size() == rows ? k : stream_.below(rows);
      std::copy_n(training_.x.begin() + static_cast<std::ptrdiff_t>(row * inputs), inputs,
                  x.begin() + static_cast<std::ptrdiff_t>(k * inputs));
      t[k] = training_.t[row];
    }
  }
  Rows set(int k) override { return sets_[static_cast<std::size_t>(k)]; }

 private:
  void add(Rows& rows, double a, double b) {
    std::array<double, 5> x{a, b};
    for (int i = 2; i < function_.inputs; ++i) x[static_cast<std::size_t>(i)] = whole_number(stream_, -100, 100);
    rows.x.insert(rows.x.end(), x.begin(), x.begin() + function_.inputs);
    rows.t.push_back(function_.value(x.data()));
  }

  const Function& function_;
  Xoshiro stream_;
  Rows training_;
  std::vector<Rows> sets_;
};

Cell cell_of(const Function& function, int redundancy, long iterations) {
  const int inputs = function.inputs;
  const auto layer = [](std::string_view text, int in) { return stack_of(text, in).front(); };
  Cell cell("NSR+NAU", function.name, fmt::format("redundancy {}", redundancy));
  // The NAU has no bias: that of a linear layer which sees nothing but 0 takes its place.
  cell.stack = {layer(fmt::format("NSR:2(redundancy={})", redundancy), inputs), layer("NAU:1", inputs),
                layer("Linear:1", 1), layer("NAU:1", inputs), layer("Linear:1", 1)};
  Wiring wiring(inputs);
  const int zero = wiring.constant(0, 1);
  const int condition = wiring.layer(cell.stack, 0, 0);
  const int if_true = wiring.sum({{1, wiring.layer(cell.stack, 1, 0)}, {1, wiring.layer(cell.stack, 2, zero)}});
  const int if_false = wiring.sum({{1, wiring.layer(cell.stack, 3, 0)}, {1, wiring.layer(cell.stack, 4, zero)}});
  wiring.mix({condition, 0}, if_true, if_false);
  cell.wiring = wiring;
  cell.recipe = nsr_recipe(cell.stack, iterations, batch_rows);
  const double last = static_cast<double>(iterations);
  cell.recipe.training.cool_down =
      CoolDown{.start = last / 2, .end = last};  // batches that differ leave noise otherwise
  for (const std::size_t nau : {1u, 3u})
    cell.recipe.layers[nau].regularisers = {Regulariser::sparsity(1, last / 2, last / 2 + 1)};
  cell.precision = Precision::Double;
  for (int power = first_power; power <= last_power; ++power)
    cell.measures.push_back({fmt::format("mae at 2^{}", power), Measure::Kind::Mae, power - first_power});
  cell.goal = {.measure = "mae at 2^3", .limit = 0.1};
  cell.data = [&function](std::uint32_t seed) { return std::make_unique<PiecewiseData>(function, seed); };
  return cell;
}

std::vector<Cell> cells(std::string_view preset) {
  std::vector<Cell> result;
  for (const Function& function : functions) {
    for (const int redundancy : {1, 2, 10}) {
      if (preset == "quick" && (redundancy != 10 || function.is_equality)) continue;
      result.push_back(cell_of(function, redundancy, preset == "quick" ? 12000 : 50000));
    }
  }
  return result;
}

}  // namespace
}  // namespace nsr_piecewise_task

extern const Task nsr_piecewise{
    .name = "nsr-piecewise",
    .title = "Functions with two branches, chosen by the Neural Status Register",
    .source = "Faber, Wattenhofer: Neural Status Registers, ICML 2023 (arXiv 2020)",
    .settings =
        "y = c*A + (1 - c)*B with c = NSR(x), lambda 1; A and B are NAU rows with a constant term. abs = |x1 - x2|; "
        "f = x5 + 4 if x1 > x2, x4 - x3 otherwise; g the same if x1 = x2. x1 and x2: all pairs from -10 to 9; the "
        "others whole numbers from -100 to 100, 4,000 rows. Loss: mean absolute error; Adam with 0.001, double "
        "precision. Tested with x1 from 2^k to 2^(k+1), x2 at most 5 away; success: an error below 0.1 at 2^3.",
    .differences =
        {"50,000 steps instead of 500,000. f and g train on 400 random rows per step instead of all 4,000; so that "
         "they settle, the learning rate falls to 0 over the second half.",
         "The regulariser of the NAU starts with the second half of the training; the paper's, after step 40,000. Its "
         "strength, 1, is an assumption.",
         "The constant term of a branch is that of a linear layer that sees 0, and starts at 0."},
    .presets = {{"quick", "abs and f with redundancy 10, 12,000 steps", 4, "4 s"},
                {"full", "all functions with redundancy 1, 2 and 10", 10, "3 min"}},
    .checks = {{"NSR+NAU", "abs", "redundancy 10", "success", true, 1},
               {"NSR+NAU", "f", "redundancy 10", "mae at 2^3", false, 1}},
    .preset_cells = nsr_piecewise_task::cells,
};

}  // namespace nalm
