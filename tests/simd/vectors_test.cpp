#include "simd/vectors.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nalm::simd {
namespace {

struct VectorPair {
  std::vector<double> a, b;
};

// Numbers whose sum hangs on the order in which they are added.
VectorPair uneven_vectors(std::size_t n) {
  std::mt19937_64 random(n);
  std::normal_distribution<double> normal;
  VectorPair vectors;
  for (std::size_t k = 0; k < n; ++k) {
    vectors.a.push_back(normal(random) * (k % 3 == 0 ? 1e9 : 1e-9));
    vectors.b.push_back(normal(random) * (k % 5 == 0 ? 1e6 : 1));
  }
  return vectors;
}

TEST(Vectors, ADotProductIsEightSumsOnEveryTarget) {
  for (const Target& target : targets()) {
    if (!target.supported) continue;
    for (std::size_t n = 0; n < 100; ++n) {
      const auto [a, b] = uneven_vectors(n);
      double s[8] = {};
      const std::size_t whole = n / 8 * 8;
      for (std::size_t k = 0; k < n; ++k) s[k < whole ? k % 8 : 0] += a[k] * b[k];
      const double sum = ((s[0] + s[2]) + (s[4] + s[6])) + ((s[1] + s[3]) + (s[5] + s[7]));
      EXPECT_EQ(vector_kernels(target).dot(a.data(), b.data(), n), sum) << target.name << ", " << n << " numbers";
    }
  }
}

TEST(Vectors, AProductIsRoundedBeforeItIsAddedOnEveryTarget) {
  for (const Target& target : targets()) {
    if (!target.supported) continue;
    for (std::size_t n = 0; n < 40; ++n) {
      const auto [a, b] = uneven_vectors(n);
      std::vector<double> sums = a;
      vector_kernels(target).add(sums.data(), 1.1, b.data(), n);
      for (std::size_t k = 0; k < n; ++k) {
        volatile const double product = 1.1 * b[k];
        EXPECT_EQ(sums[k], a[k] + product) << target.name << ", number " << k << " of " << n;
      }
    }
  }
}

}  // namespace
}  // namespace nalm::simd
