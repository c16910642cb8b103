// The threads of one rank: they train what they are given, piece by piece, and put down what is finished.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "experiment/task.hpp"

namespace nalm {

class Crew {
 public:
  // The task and the cells must outlive it.
  Crew(const Task& task, const std::vector<Cell>& cells, int threads);
  ~Crew() { stop(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // How many pieces are trained at the same time.
  int pieces_at_once() const { return static_cast<int>(slots_.size()); }

  void give(std::vector<RunId> piece);
  // Gives up what is in training, and waits for that.
  void stop();

  struct Output {
    std::vector<FinishedRuns> finished;
    int pieces = 0;              // that are done since the last time
    double in_training = 0;      // what is done of those that are not, in the measure of cost_of
    std::optional<Error> error;  // the first one
  };
  Output take();

 private:
  struct Slot {
    std::atomic<double> progress = 0;  // of its piece, from 0 to 1
    std::atomic<double> cost = 0;
    std::jthread thread;
  };
  void work(Slot& slot);
  void train(Slot& slot, const std::vector<RunId>& piece);

  const Task& task_;
  const std::vector<Cell>& cells_;
  int threads_per_piece_ = 1;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable given_;
  std::deque<std::vector<RunId>> pieces_;
  Output output_;
  std::deque<Slot> slots_;  // the last, so that threads end before what they use
};

}  // namespace nalm
