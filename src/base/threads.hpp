// f(0), ..., f(n-1), spread over threads. Each index is one call; which thread runs it must not matter.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace nalm {

// Those that this process may use: a launcher or a batch system may have bound it to some.
inline int processor_count() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// The first exception of a call comes back once all threads have ended; calls that have not begun by then are left out.
template <class F>
void parallel_for(int n, int threads, F f) {
  const int count = std::min(n, threads > 0 ? threads : processor_count());
  if (count <= 1) {
    for (int k = 0; k < n; ++k) f(k);
    return;
  }
  std::atomic<int> next{0};
  std::mutex mutex;
  std::exception_ptr first;
  const auto work = [&] {
    try {
      for (int k = next++; k < n; k = next++) f(k);
    } catch (...) {
      next = n;
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> workers;
    try {
      for (int k = 1; k < count; ++k) workers.emplace_back(work);
    } catch (const std::exception&) {
      // No thread or no memory for one to be had: those that run do all of the work.
    }
    work();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace nalm
