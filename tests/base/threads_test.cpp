// Exceptions come back to the caller, and threads that cannot be had are done without.
#include "base/threads.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace nalm::threads_test {
namespace {

void expect_every_index_once(int n, int threads) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
  parallel_for(n, threads, [&](int k) { ++calls[static_cast<std::size_t>(k)]; });
  for (std::size_t k = 0; k < calls.size(); ++k) EXPECT_EQ(calls[k], 1) << k << " of " << n << ", threads: " << threads;
}

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const int threads : {0, 1, 2, 7})
    for (const int n : {0, 1, 2, 100}) expect_every_index_once(n, threads);
}

TEST(ParallelFor, AnExceptionComesBackFromAnyThread) {
  for (const int threads : {1, 2, 5}) {
    for (const int thrower : {0, 1, 99}) {
      try {
        parallel_for(100, threads, [&](int k) {
          if (k == thrower) throw std::runtime_error("no " + std::to_string(k));
        });
        ADD_FAILURE() << "nothing was thrown by " << threads << " threads";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "no " + std::to_string(thrower));
      }
    }
  }
}

TEST(ParallelFor, OneOfManyExceptionsComesBackAndEndsTheRest) {
  std::atomic<int> calls = 0;
  EXPECT_THROW(parallel_for(1000000, 4,
                            [&](int) {
                              ++calls;
                              throw std::runtime_error("no");
                            }),
               std::runtime_error);
  EXPECT_LE(calls, 4) << "a thread went on after its exception";
}

#ifdef __GLIBC__
TEST(ParallelFor, DoesWithoutThreadsThatCannotBeHad) {
  // A stack larger than any address space.
  pthread_attr_t usual, impossible;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_attr_init(&impossible), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&impossible, std::size_t{1} << 60), 0);
  ASSERT_EQ(pthread_setattr_default_np(&impossible), 0);
  EXPECT_THROW(std::thread([] {}).join(), std::system_error) << "otherwise this proves nothing";
  expect_every_index_once(100, 4);
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
}
#endif

}  // namespace
}  // namespace nalm::threads_test
