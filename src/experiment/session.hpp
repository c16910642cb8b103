// What the threads of an executor share: how far they are, whether to go on, and the first error.
#pragma once

#include <mutex>
#include <new>

#include "base/threads.hpp"
#include "experiment/executor.hpp"

namespace nalm {

class Session {
 public:
  // total: of what progressed() counts.
  Session(const ExecutorSettings& settings, double total) : settings_(settings), total_(std::max(total, 1.0)) {}

  static int threads_of(const ExecutorSettings& settings) {
    return settings.threads > 0 ? settings.threads : processor_count();
  }

  // So much more is done; false: nobody wants the rest.
  bool progressed(double steps) {
    const double now = done_.fetch_add(steps, std::memory_order_relaxed) + steps;
    if (settings_.progress) settings_.progress->store(now / total_, std::memory_order_relaxed);
    return !ended_ && !stopped();
  }
  bool stopped() const { return settings_.stop.stop_requested(); }

  // Nobody stores anything after the first error.
  void finish(const FinishedRuns& finished) {
    const std::lock_guard lock(mutex_);
    if (!ended_) end_if_failed(settings_.finished(finished));
  }
  void fail(Error error) {
    const std::lock_guard lock(mutex_);
    end_if_failed(std::move(error));
  }

  // work(k) for k below n.
  template <class F>
  Status run(std::size_t n, int threads, F work) {
    parallel_for(static_cast<int>(n), threads, [&](int k) {
      if (!progressed(0)) return;
      try {
        work(static_cast<std::size_t>(k));
      } catch (const std::bad_alloc&) {
        fail({"out of memory; use fewer threads or fewer inputs."});
      }
    });
    return status_;
  }

 private:
  void end_if_failed(Status status) {
    if (status || ended_) return;
    status_ = std::move(status);
    ended_ = true;
  }

  const ExecutorSettings& settings_;
  double total_;
  std::atomic<double> done_ = 0;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  Status status_ = Done{};
};

}  // namespace nalm
