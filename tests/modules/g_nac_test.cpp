// G-NAC: NAC+ with raw parameters that count ln(phi) times.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::g_nac_test {
namespace {

using Values = std::vector<double>;

Model of_module(const char* name, const Values& parameters) {
  return {{{*find_module(name), {2, 1, {}}, parameters}}, {}};
}

TEST(GNac, IsNacWithFlatterSquashing) {
  const double ln_phi = std::log((1 + std::sqrt(5)) / 2);
  const Values raw = {0.3, -1.2, 0.9, 2}, x = {1.25, -3}, t = {0.4};
  Values scaled;
  for (const double p : raw) scaled.push_back(p * ln_phi);
  const Model golden = of_module("G-NAC", raw), plain = of_module("NAC+", scaled);
  EXPECT_NEAR((*predict(golden, x, Precision::Double))[0], (*predict(plain, x, Precision::Double))[0], 1e-14);
  const Values slope = gradients(golden, x, t, Precision::Double)->layers[0];
  const Values other = gradients(plain, x, t, Precision::Double)->layers[0];
  for (std::size_t k = 0; k < raw.size(); ++k) EXPECT_NEAR(slope[k], ln_phi * other[k], 1e-13) << k;
}

TEST(GNac, SpellsSumsAndDifferences) {
  EXPECT_EQ(print(ideal_formula(of_module("G-NAC", {90, -90, 90, 90}), {})->outputs[0]), "x1 - x2");
}

}  // namespace
}  // namespace nalm::g_nac_test
