// Rows whose result means nothing: every unit that divides gives a number where it divides by 0, and says so.
#include "nalm/invalid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "words.hpp"

namespace nalm::invalid_test {
namespace {

TEST(InvalidRows, ArePolesOrNotFinite) {
  struct Case {
    const char* module;
    std::vector<double> parameters;  // of x1/x2
  };
  const double far = 25;
  const Case cases[] = {
      {"RealNPU", {1, -1, 1, 1}}, {"NPU", {1, -1, 0, 0, 1, 1}}, {"NAC*", {far, -far, far, far}},
      {"NRU-log", {1, -1}},       {"NMRU", {1, 0, 0, 1}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.module);
    const Model model{{{*find_module(c.module), default_shape(**find_module(c.module), 2, 1), c.parameters}}, {}};
    const std::vector<double> rows{6, 3, 1, 0, std::nan(""), 1};
    const Result<std::vector<double>> y = predict(model, rows, Precision::Float);
    ASSERT_TRUE(y.ok()) << complaint(y);
    EXPECT_NEAR((*y)[0], 2, 1e-5);
    EXPECT_TRUE(std::isfinite((*y)[1])) << (*y)[1];
    const Result<std::vector<Invalid>> reasons = invalid_rows(model, rows, *y);
    ASSERT_TRUE(reasons.ok()) << complaint(reasons);
    EXPECT_EQ(*reasons, (std::vector{Invalid::No, Invalid::Pole, Invalid::NotFinite}));
  }
}

TEST(InvalidRows, ZerosAreOrdinaryWhereNothingIsDivided) {
  const Model model{{{*find_module("NMU"), {2, 1, {}}, {1, 1}}}, {}};
  const std::vector<double> rows{0, 3};
  EXPECT_EQ(*invalid_rows(model, rows, *predict(model, rows, Precision::Float)), std::vector{Invalid::No});
}

}  // namespace
}  // namespace nalm::invalid_test
