#include "experiment/crew.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace nalm {

Crew::Crew(const Task& task, const std::vector<Cell>& cells, int threads) : task_(task), cells_(cells) {
  // Some runs use all threads by themselves.
  const bool one_at_a_time = std::ranges::any_of(cells, [](const Cell& cell) { return cell.own_uses_all_threads; });
  if (one_at_a_time) threads_per_piece_ = threads;
  for (int k = 0; k < (one_at_a_time ? 1 : threads); ++k) {
    Slot& slot = slots_.emplace_back();
    try {
      slot.thread = std::jthread([this, &slot] { work(slot); });
    } catch (const std::exception&) {
      slots_.pop_back();  // no thread to be had: those that run do all of the work
      break;
    }
  }
  if (slots_.empty()) output_.error = Error{"no thread can be started; use fewer ranks on this machine."};
}

void Crew::give(std::vector<RunId> piece) {
  const std::lock_guard lock(mutex_);
  pieces_.push_back(std::move(piece));
  given_.notify_one();
}

void Crew::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    given_.notify_all();
  }
  for (Slot& slot : slots_)
    if (slot.thread.joinable()) slot.thread.join();
}

Crew::Output Crew::take() {
  const std::lock_guard lock(mutex_);
  Output output = std::exchange(output_, {});
  for (const Slot& slot : slots_) output.in_training += slot.cost * slot.progress;
  return output;
}

void Crew::work(Slot& slot) {
  for (;;) {
    std::vector<RunId> piece;
    {
      std::unique_lock lock(mutex_);
      given_.wait(lock, [&] { return stop_.stop_requested() || !pieces_.empty(); });
      if (stop_.stop_requested()) return;
      piece = std::move(pieces_.front());
      pieces_.pop_front();
    }
    train(slot, piece);
  }
}

void Crew::train(Slot& slot, const std::vector<RunId>& piece) {
  double cost = 0;
  for (const RunId& run : piece) cost += cost_of(cells_[run.cell]);
  slot.progress = 0, slot.cost = cost;
  ExecutorSettings settings;
  settings.threads = threads_per_piece_;
  settings.progress = &slot.progress;
  settings.stop = stop_.get_token();
  settings.finished = [&](const FinishedRuns& finished) -> Status {
    const std::lock_guard lock(mutex_);
    output_.finished.push_back(finished);
    return Done{};
  };
  Status trained = Done{};
  try {
    trained = task_.execute(cells_, piece, settings);
  } catch (const std::bad_alloc&) {
    trained = Error{"out of memory; use fewer ranks on this machine, or fewer threads."};
  }
  const std::lock_guard lock(mutex_);
  slot.cost = 0;
  if (stop_.stop_requested()) return;
  ++output_.pieces;
  if (!trained && !output_.error) output_.error = trained.error();
}

}  // namespace nalm
