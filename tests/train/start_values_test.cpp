// Start values against those of the reference software (the survey's own program) for seed 0, printed under
// PyTorch 1.13, and the ranges that modules ask for.
#include "train/start_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace nalm::start_values_test {
namespace {

using Values = std::vector<double>;

const ModuleInfo& module(std::string_view name) { return **find_module(name); }

// The reference draws all parameters twice and trains the second set.
Values second_draw(std::string_view name, int inputs) {
  TorchStream stream(0);
  const LayerShape shape = default_shape(module(name), inputs, 1);
  start_values(module(name), shape, stream);
  return start_values(module(name), shape, stream);
}

// All printed digits.
void expect_digits(const Values& values, const Values& wanted) {
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], wanted[k], 0.5000001e-6) << k;
}

TEST(StartValues, OfNacAreThoseOfTheReference) {
  const Values wanted{-3.647953, 2.539827, -0.187659, 7.509778};
  expect_digits(second_draw("NAC+", 2), wanted);
  expect_digits(second_draw("NAC*", 2), wanted);
}

TEST(StartValues, OfNaluAreThoseOfTheReference) {
  const Values wanted{-0.187659, 7.509778, -0.840531, 2.506253, -0.427394, -0.277985};
  expect_digits(second_draw("NALU", 2), wanted);
  expect_digits(second_draw("G-NALU", 2), wanted);
}

TEST(StartValues, OfINaluAreThoseOfTheReference) {
  expect_digits(second_draw("iNALU", 2),
                {0.799331, 0.760673, 0.536407, 0.328665, 1.100121, 0.665763, 0.524540, 0.386737, 0.074623});
}

TEST(StartValues, OfNauAreThoseOfTheReference) { expect_digits(second_draw("NAU", 2), {-0.411523, -0.367970}); }

TEST(StartValues, OfNmuAreThoseOfTheReference) { expect_digits(second_draw("NMU", 2), {0.294239, 0.316015}); }

TEST(StartValues, OfNpuAreThoseOfTheReference) {
  expect_digits(second_draw("NPU", 2), {-1.163962, -1.040775, 0, 0, 0.5, 0.5});
  expect_digits(second_draw("RealNPU", 2), {-1.163962, -1.040775, 0.5, 0.5});
}

TEST(StartValues, AreFloats) {
  for (const ModuleInfo* info : all_modules()) {
    TorchStream stream(1);
    for (const double v : start_values(*info, default_shape(*info, 3, info->outputs_multiple_of), stream)) {
      EXPECT_EQ(v, static_cast<double>(static_cast<float>(v))) << info->name;
    }
  }
}

TEST(NacRange, GivesTheWeightsTheWantedVariance) {
  EXPECT_NEAR(nac_range(2 + 1), 9.471406, 0.5000001e-6);
  EXPECT_NEAR(nac_range(10 + 1), 2.260468, 0.5000001e-6);
  EXPECT_NEAR(nac_range(100 + 1), 0.506593, 0.5000001e-6);
}

TEST(NacRange, IsTheSameForUpToFiveInputsAndOutputs) {
  EXPECT_EQ(nac_range(1), nac_range(5));
  EXPECT_NE(nac_range(6), nac_range(5));
}

// Uniform values fill (-r, r): with n values the largest stays below 0.97 r with probability 0.97^n.
void expect_uniform(const Values& values, double lo, double hi) {
  ASSERT_GE(values.size(), 200u);  // 0.002; the streams' seeds are fixed
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  const double margin = 0.03 / 2 * (hi - lo), rounding = 1e-7 * (hi - lo);
  EXPECT_GE(*smallest, lo - rounding);
  EXPECT_LE(*largest, hi + rounding);
  EXPECT_LE(*smallest, lo + margin);
  EXPECT_GE(*largest, hi - margin);
}

Values draw(std::string_view name, int inputs, int outputs, std::uint32_t seed = 2) {
  TorchStream stream(seed);
  return start_values(module(name), default_shape(module(name), inputs, outputs), stream);
}
Values slice(const Values& values, std::size_t from, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(from);
  return Values(first, first + static_cast<std::ptrdiff_t>(count));
}

TEST(StartValues, OfNauAreBoundedByOneHalfAndByTheFan) {
  // One output, and enough draws for the range to show.
  Values two, hundred;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    for (const double v : draw("NAU", 2, 1, seed)) two.push_back(v);
    for (const double v : draw("NAU", 100, 1, seed)) hundred.push_back(v);
  }
  expect_uniform(two, -0.5, 0.5);
  expect_uniform(hundred, -0.243733, 0.243733);
}

TEST(StartValues, OfNmuLieAroundOneHalfForAnySize) {
  expect_uniform(draw("NMU", 300, 1), 0.25, 0.75);
  expect_uniform(draw("NMU", 20, 20), 0.25, 0.75);
}

TEST(StartValues, OfNaluGatesAreXavierUniform) {
  const double r = std::sqrt(6.0 / 301);
  expect_uniform(slice(draw("NALU", 300, 1), 600, 300), -r, r);
}

TEST(StartValues, OfNlrlLieWithinOneHalf) {
  const Values values = draw("NLRL", 30, 10);
  ASSERT_EQ(values.size(), 610u);  // G_neg, A_hat, G_out
  expect_uniform(slice(values, 0, 300), -0.5, 0.5);
  expect_uniform(slice(values, 300, 300), -0.5, 0.5);
}

// With n values the standard deviation deviates by 1/sqrt(2n) of itself; five times that is allowed (6e-7; fixed seed).
void expect_deviation(const Values& values, double deviation) {
  double sum = 0, square = 0;
  for (const double v : values) {
    sum += v;
    square += v * v;
  }
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(std::sqrt(square / n), deviation, 5 * deviation / std::sqrt(2 * n));
  EXPECT_NEAR(sum / n, 0, 5 * deviation / std::sqrt(n));
}

TEST(StartValues, OfNsrAreXavierNormalOfTheirOwnTensor) {
  // Ten paths; V1 and V2 are [input][path], w_sign and w_zero [path][1], b starts at 0.
  const Values values = draw("NSR", 90, 2);
  ASSERT_EQ(values.size(), 900u + 900u + 10u + 10u + 1u);
  expect_deviation(slice(values, 0, 900), std::sqrt(2.0 / (90 + 10)));
  expect_deviation(slice(values, 900, 900), std::sqrt(2.0 / (90 + 10)));
  EXPECT_EQ(values.back(), 0);
  // Many comparisons, so that the small tensors show their deviation too.
  const Values many = draw("NSR", 2, 200);
  const std::size_t v = 2 * 10 * 100, w = 10 * 100;
  ASSERT_EQ(many.size(), 2 * v + 2 * w + 100);
  expect_deviation(slice(many, 0, v), std::sqrt(2.0 / (2 + 10)));
  expect_deviation(slice(many, 2 * v, w), std::sqrt(2.0 / (10 + 1)));
  expect_deviation(slice(many, 2 * v + w, w), std::sqrt(2.0 / (10 + 1)));
}

TEST(StartValues, OfAbsentParametersAreNotDrawn) {
  // NLRL's form "and" has no G_out: the stream goes on right after A_hat.
  const ModuleInfo& nlrl = module("NLRL");
  LayerShape shape = default_shape(nlrl, 2, 1);
  const std::size_t full = start_values(nlrl, shape, *std::make_unique<TorchStream>(0)).size();
  for (std::size_t k = 0; k < nlrl.options.size(); ++k) {
    if (nlrl.options[k].name == "form") shape.options[k] = 1 - shape.options[k];
  }
  TorchStream stream(0), plain(0);
  const Values values = start_values(nlrl, shape, stream);
  EXPECT_EQ(values.size(), full - 1);
  Values one(1), same(values.size() + 1);
  stream.uniform(one, -0.5, 0.5);
  plain.uniform(same, -0.5, 0.5);
  EXPECT_EQ(one[0], same.back());
}

}  // namespace
}  // namespace nalm::start_values_test
