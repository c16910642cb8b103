#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string_view>

#include "base/utf8.hpp"
#include "cli/output.hpp"

namespace nalm::cli {
namespace {

std::atomic<bool> interrupted = false;
std::atomic<int> interrupting_signal = 0;

extern "C" void on_signal(int signal) {
  // The second time nobody wants to wait.
  if (interrupted.exchange(true)) std::_Exit(128 + signal);
  interrupting_signal = signal;
}

constexpr std::string_view erase_line = "\r\033[K";

// At most so many columns, since a line that breaks cannot be taken back: first the bar gets shorter, then the words.
std::string bar_line(std::size_t columns, double done, std::string what, double seconds_left) {
  constexpr std::size_t shortest = 10, longest = 30;
  const std::string left = seconds_left < 0 ? "" : "  " + clock_time(seconds_left) + " left";
  const std::size_t around = std::size("[] 100 %  ") - 1 + left.size();
  const std::size_t words = utf8_count(what);
  const std::size_t width = std::clamp(columns > around + words ? columns - around - words : 0, shortest, longest);
  if (around + width + words > columns) {
    std::size_t room = columns > around + width + 3 ? columns - around - width - 3 : 0, end = 0;
    for (; room > 0 && end < what.size(); --room) end += std::max<std::size_t>(utf8_length(what, end), 1);
    what = end > 0 ? what.substr(0, end) + "..." : "";
  }
  const auto full = static_cast<std::size_t>(done * static_cast<double>(width));
  return fmt::format("[{}{}] {:3.0f} %  {}{}", std::string(full, '='), std::string(width - full, ' '), 100 * done, what,
                     left);
}

}  // namespace

Interruptible::Interruptible() {
  try {
    watcher_ = std::jthread([source = source_](const std::stop_token& ended) mutable {
      while (!ended.stop_requested() && !interrupted) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (interrupted) source.request_stop();
    });
  } catch (const std::exception&) {
    // No thread to be had: the second Ctrl-C ends the program.
  }
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGUSR1, on_signal);  // from batch systems, a while before the end
}
Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGUSR1, SIG_DFL);
}
std::atomic<bool>& Interruptible::flag() { return interrupted; }
int Interruptible::exit_code() { return 128 + (interrupting_signal ? interrupting_signal.load() : SIGINT); }

ProgressStyle default_progress() {
  const char* terminal = std::getenv("TERM");
  const bool can_erase = is_terminal(stderr) && terminal && std::string_view(terminal) != "dumb";
  return can_erase ? ProgressStyle::Bar : ProgressStyle::Lines;
}

std::string clock_time(double seconds) {
  const long whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

Progress::Progress(ProgressStyle style, std::function<std::string()> what)
    : style_(style), what_(std::move(what)), start_(std::chrono::steady_clock::now()) {
  if (style_ == ProgressStyle::Quiet) return;
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::exception&) {
    // No thread to be had: the work goes on unwatched.
  }
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::finish() {
  if (finished_.exchange(true)) return;
  if (watcher_.joinable()) watcher_.join();
  if (style_ == ProgressStyle::Bar) draw(stderr, erase_line);
}

// What cannot be shown, for want of memory, is not worth the end of the work.
void Progress::watch() noexcept {
  // Often enough for a bar to move; a line at most every five seconds, so that logs stay short.
  double next_line = 5;
  while (!finished_) {
    if (style_ == ProgressStyle::Bar || seconds() >= next_line) {
      try {
        show();
      } catch (const std::exception&) {
      }
      next_line = seconds() + std::max(5.0, seconds() / 20);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void Progress::show() {
  const double done = std::clamp(done_.load(), 0.0, 1.0), elapsed = seconds();
  // Early guesses are wild, and a guess that grows is worse than one that stands still.
  double left = -1;
  if (done > 0.001 && elapsed > 1) left = least_left_ = std::min(least_left_, elapsed * (1 - done) / done);
  switch (style_) {
    case ProgressStyle::Bar:
      draw(stderr, std::string(erase_line) + bar_line(columns_of(stderr) - 1, done, visible(what_()), left));
      break;
    case ProgressStyle::Lines:
      tell("{:3.0f} %  {}  {} so far{}\n", 100 * done, what_(), clock_time(elapsed),
           left < 0 ? "" : ", " + clock_time(left) + " left");
      break;
    case ProgressStyle::JsonLines:
      put("{{\"event\":\"progress\",\"done\":{:.4f},\"seconds\":{:.1f},\"seconds_left\":{}}}\n", done, elapsed,
          left < 0 ? "null" : fmt::format("{:.1f}", left));
      flush_output();
      break;
    case ProgressStyle::Quiet:
      break;
  }
}

}  // namespace nalm::cli
