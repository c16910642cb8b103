#include "tasks/arithmetic_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

namespace nalm {
namespace {

constexpr int evaluation_rows = 10000;
constexpr int threshold_rows = 100000;

double draw(Xoshiro& stream, const Range& range) {
  const double u = stream.unit() * (range.second ? 2 : 1), width = range.hi - range.lo;
  return u < 1 ? range.lo + width * u : range.second->lo + width * (u - 1);
}

class Data final : public RunData {
 public:
  Data(const SubsetSetting& setting, SubsetOperation operation, std::uint32_t seed)
      : setting_(setting),
        operation_(operation),
        subsets_(subsets_of(setting.shape, seed)),
        seed_(seed),
        stream_(stream_of("training batches in double", seed)) {}

  void batch(long, std::span<double> x, std::span<double> t) override {  // used with double lanes only
    fill(stream_, setting_.train, x, t);
  }
  Rows set(int k) override {
    Rows rows{std::vector<double>(evaluation_rows * static_cast<std::size_t>(setting_.shape.inputs)),
              std::vector<double>(evaluation_rows)};
    Xoshiro stream = stream_of(k == 0 ? "validation" : "test", seed_);
    fill(stream, k == 0 ? setting_.train : setting_.test, rows.x, rows.t);
    return rows;
  }

 private:
  void fill(Xoshiro& stream, const Range& range, std::span<double> x, std::span<double> t) const {
    const std::size_t inputs = static_cast<std::size_t>(setting_.shape.inputs);
    // Inputs are floats, as the network sees them, and the target is that of those floats.
    for (double& value : x) value = static_cast<float>(draw(stream, range));
    for (std::size_t r = 0; r < t.size(); ++r) {
      const double* row = x.data() + r * inputs;
      double a = 0, b = 0;
      for (int i = subsets_.a_first; i < subsets_.a_end; ++i) a += row[i];
      for (int i = subsets_.b_first; i < subsets_.b_end; ++i) b += row[i];
      t[r] = apply(operation_, a, b);
    }
  }

  SubsetSetting setting_;
  SubsetOperation operation_;
  Subsets subsets_;
  std::uint32_t seed_;
  Xoshiro stream_;
};

// The published thresholds of the standard setting; the simulation gives them to three digits.
double limit_of(SubsetOperation operation, const SubsetSetting& setting) {
  static constexpr double published[] = {1.4786e-5, 1.384e-8, 0.16001, 4.938e-12, 0.15947, 8.955e-9};
  const SubsetShape standard;
  const bool is_standard = setting.shape.inputs == standard.inputs && setting.shape.ratio == standard.ratio &&
                           setting.shape.overlap == standard.overlap && setting.test.lo == 2 && setting.test.hi == 6 &&
                           !setting.test.second;
  if (is_standard) return published[static_cast<std::size_t>(operation)];
  return arithmetic_dataset_threshold(operation, setting.test, setting.shape, ThresholdSubsets::AsPublished);
}

// The model whose first layer is off by epsilon, its second layer exact.
class AlmostRight final : public Problem {
 public:
  AlmostRight(SubsetOperation operation, const SubsetSetting& setting) : operation_(operation), setting_(setting) {}
  std::optional<double> limit(const Criterion& criterion, std::uint32_t) const override {
    if (criterion.kind != Criterion::Kind::Epsilon) return std::nullopt;
    return arithmetic_dataset_threshold(operation_, setting_.test, setting_.shape, ThresholdSubsets::AsPublished,
                                        criterion.epsilon);
  }

 private:
  SubsetOperation operation_;
  SubsetSetting setting_;
};

}  // namespace

Cell subset_cell(const SubsetNetwork& net, SubsetOperation operation, const SubsetSetting& setting, long iterations) {
  Cell cell(net.name, name_of(operation), setting.name);
  cell.stack = stack_of(fmt::format(fmt::runtime(net.layers), setting.hidden), setting.shape.inputs);
  cell.recipe.training.iterations = iterations;
  cell.recipe.layers.resize(cell.stack.size());
  const double strength = setting.strength.value_or(net.strength);
  for (std::size_t k = 0; strength > 0 && k < cell.stack.size(); ++k) {
    const auto regulariser = [&](std::string parameter) {
      return Regulariser::sparsity(strength, net.start, net.end, std::move(parameter));
    };
    // A gate is no weight that should be whole.
    if (cell.stack[k].module->name == "Gated") {
      cell.recipe.layers[k].regularisers = {regulariser("W_nau"), regulariser("W_nmu")};
    } else {
      cell.recipe.layers[k].regularisers = {regulariser({})};
    }
  }
  for (auto& layer : cell.recipe.layers) layer.clamp = net.clamp;
  cell.measures = {{"validation", Measure::Kind::Mse, 0, 0},
                   {"test", Measure::Kind::Mse, 1, 0},
                   {"sparsity", Measure::Kind::Sparsity, 0, 0}};
  cell.goal = {
      "test", "validation", limit_of(operation, setting), false,
      arithmetic_dataset_threshold(operation, setting.test, setting.shape, ThresholdSubsets::AsPublished, 0.49)};
  cell.problem = std::make_shared<AlmostRight>(operation, setting);
  cell.data = [setting, operation](std::uint32_t seed) { return std::make_unique<Data>(setting, operation, seed); };
  const int batch = cell.recipe.training.batch;
  cell.lane_source = [setting, operation, batch](const simd::Target& target, std::span<const std::uint32_t> seeds) {
    std::vector<Subsets> subsets;
    for (const std::uint32_t seed : seeds) subsets.push_back(subsets_of(setting.shape, seed));
    return std::make_unique<SubsetSource>(target, seeds, subsets, setting.train, operation, setting.shape.inputs,
                                          batch);
  };
  return cell;
}

Subsets subsets_of(const SubsetShape& shape, std::uint32_t seed) {
  if (shape.simple) return {0, shape.inputs, 0, shape.inputs / 2};
  const int size = static_cast<int>(shape.ratio * shape.inputs), both = static_cast<int>(shape.overlap * size);
  const int used = 2 * size - both;
  const int offset = static_cast<int>(
      stream_of("subset offset", seed).below(static_cast<std::uint64_t>(std::max(1, shape.inputs - used + 1))));
  return {offset, offset + size, offset + size - both, offset + used};
}

static double simulate_threshold(SubsetOperation operation, const Range& test, const SubsetShape& shape,
                                 ThresholdSubsets subsets, double epsilon) {
  Subsets s = subsets_of(shape, 0);
  const int length = std::max(s.a_end, s.b_end) - std::min(s.a_first, s.b_first);
  // Where they stand does not matter.
  const int first = std::min(s.a_first, s.b_first);
  s = {s.a_first - first, s.a_end - first, s.b_first - first, s.b_end - first};
  if (subsets == ThresholdSubsets::AsPublished && !shape.simple) {
    // The published script's ends are inclusive: both subsets, and what they share, are one element longer.
    s.a_end += 1;
    s.b_end += 1;
    if (shape.overlap == 0) s.b_first += 1, s.b_end += 1;
    if (length + 1 > shape.inputs) s.b_end = std::min(s.b_end, shape.inputs);
  }
  Xoshiro stream = stream_of("threshold", 0);
  std::vector<double> x(static_cast<std::size_t>(shape.inputs));
  double sum = 0;
  for (int r = 0; r < threshold_rows; ++r) {
    double all = 0, a = 0, b = 0;
    for (double& value : x) value = draw(stream, test), all += value;
    for (int i = s.a_first; i < s.a_end; ++i) a += x[static_cast<std::size_t>(i)];
    for (int i = s.b_first; i < s.b_end; ++i) b += x[static_cast<std::size_t>(i)];
    const double almost_a = (1 - epsilon) * a + epsilon * (all - a), almost_b = (1 - epsilon) * b + epsilon * (all - b);
    const double error = apply(operation, almost_a, almost_b) - apply(operation, a, b);
    sum += error * error;
  }
  return sum / threshold_rows;
}

// Cells are made again whenever a store is looked at, and a simulation takes a tenth of a second.
double arithmetic_dataset_threshold(SubsetOperation operation, const Range& test, const SubsetShape& shape,
                                    ThresholdSubsets subsets, double epsilon) {
  static std::mutex mutex;
  static std::map<
      std::tuple<SubsetOperation, double, double, double, int, double, double, bool, ThresholdSubsets, double>, double>
      known;
  const std::lock_guard lock(mutex);
  double& value = known[{operation, test.lo, test.hi, test.second ? test.second->lo : test.lo, shape.inputs,
                         shape.ratio, shape.overlap, shape.simple, subsets, epsilon}];
  if (value == 0) value = simulate_threshold(operation, test, shape, subsets, epsilon);
  return value;
}

}  // namespace nalm
