// f(0), ..., f(n-1), spread over threads. Each index is one call; which thread runs it must not matter.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace nalm {

inline int processor_count() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

template <class F>
void parallel_for(int n, int threads, F f) {
  const int count = std::min(n, threads > 0 ? threads : processor_count());
  if (count <= 1) {
    for (int k = 0; k < n; ++k) f(k);
    return;
  }
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int k = next++; k < n; k = next++) f(k);
  };
  std::vector<std::jthread> workers;
  for (int k = 1; k < count; ++k) workers.emplace_back(work);
  work();
}

}  // namespace nalm
