// How far a long command is, for whoever watches: a bar with the time left on a terminal, plain lines elsewhere.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <thread>

namespace nalm::cli {

enum class ProgressStyle { Bar, Lines, JsonLines, Quiet };

// A bar on a terminal, lines elsewhere. Both go to standard error.
ProgressStyle default_progress();

class Progress {
 public:
  // what() says what is done so far, such as "1200 of 5175 runs".
  Progress(ProgressStyle style, std::function<std::string()> what);
  ~Progress() { finish(); }

  std::atomic<double>& done() { return done_; }  // from 0 to 1
  double seconds() const;
  void finish();  // no more output after this

 private:
  void watch() noexcept;
  void show();

  ProgressStyle style_;
  std::function<std::string()> what_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<double> done_ = 0;
  double least_left_ = std::numeric_limits<double>::infinity();  // seconds, of those shown so far
  std::atomic<bool> finished_ = false;
  std::thread watcher_;
};

// "1:05" or "2:00:07".
std::string clock_time(double seconds);

// Ctrl-C, a polite kill and SIGUSR1, which batch systems send ahead of one, set a flag, so that the work can end
// cleanly; a second Ctrl-C ends the program at once.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  std::stop_token token() const { return source_.get_token(); }
  static std::atomic<bool>& flag();
  static int exit_code();  // 130 after Ctrl-C, 143 after a kill

 private:
  std::stop_source source_;
  std::jthread watcher_;  // a signal's handler may set a flag and nothing more
};

}  // namespace nalm::cli
