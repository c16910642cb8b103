#include "base/memory.hpp"

#include <gtest/gtest.h>

namespace nalm::memory_test {
namespace {

TEST(LargestMemory, IsPlausible) {
  EXPECT_GT(largest_memory(), 64e6) << "this test would not run";
  EXPECT_LT(largest_memory(), 1e18);
}

}  // namespace
}  // namespace nalm::memory_test
