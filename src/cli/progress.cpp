#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace nalm::cli {
namespace {

std::atomic<bool> interrupted = false;
std::atomic<int> interrupting_signal = 0;

extern "C" void on_signal(int signal) {
  // The second time nobody wants to wait.
  if (interrupted.exchange(true)) std::_Exit(128 + signal);
  interrupting_signal = signal;
}

}  // namespace

Interruptible::Interruptible() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}
Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}
std::atomic<bool>& Interruptible::flag() { return interrupted; }
int Interruptible::exit_code() { return 128 + (interrupting_signal ? interrupting_signal.load() : SIGINT); }

ProgressStyle default_progress() { return isatty(STDERR_FILENO) ? ProgressStyle::Bar : ProgressStyle::Lines; }

std::string clock_time(double seconds) {
  const long whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

Progress::Progress(ProgressStyle style, std::function<std::string()> what)
    : style_(style), what_(std::move(what)), start_(std::chrono::steady_clock::now()) {
  if (style_ != ProgressStyle::Quiet) watcher_ = std::thread([this] { watch(); });
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::finish() {
  if (finished_.exchange(true)) return;
  finished_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  if (style_ == ProgressStyle::Bar) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void Progress::watch() {
  // Often enough for a bar to move; a line at most every five seconds, so that logs stay short.
  next_line_ = 5;
  while (!finished_) {
    if (style_ == ProgressStyle::Bar || seconds() >= next_line_) {
      show();
      next_line_ = seconds() + std::max(5.0, seconds() / 20);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void Progress::show() {
  const double done = std::clamp(done_.load(), 0.0, 1.0), elapsed = seconds();
  const double left = done > 0.001 ? elapsed * (1 - done) / done : -1;
  switch (style_) {
    case ProgressStyle::Bar: {
      constexpr int width = 30;
      const int full = static_cast<int>(done * width);
      fmt::print(stderr, "\r\033[K[{}{}] {:3.0f} %  {}  {}", std::string(static_cast<std::size_t>(full), '='),
                 std::string(static_cast<std::size_t>(width - full), ' '), 100 * done, what_(),
                 left < 0 ? "" : clock_time(left) + " left");
      break;
    }
    case ProgressStyle::Lines:
      fmt::print(stderr, "{:3.0f} %  {}  {} so far{}\n", 100 * done, what_(), clock_time(elapsed),
                 left < 0 ? "" : ", " + clock_time(left) + " left");
      break;
    case ProgressStyle::JsonLines:
      fmt::print("{{\"event\":\"progress\",\"done\":{:.4f},\"seconds\":{:.1f},\"seconds_left\":{}}}\n", done, elapsed,
                 left < 0 ? "null" : fmt::format("{:.1f}", left));
      std::fflush(stdout);
      break;
    case ProgressStyle::Quiet:
      break;
  }
  std::fflush(stderr);
}

}  // namespace nalm::cli
