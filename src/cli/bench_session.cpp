#include "cli/bench_session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "base/threads.hpp"
#include "nalm/version.hpp"

namespace nalm::cli {

int BenchOutput::thread_count() const { return threads > 0 ? threads : processor_count(); }

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

std::string line_of(const nlohmann::json& event) {
  return event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Status check_version(const std::string& folder, const std::string& begun_by) {
  if (begun_by == version()) return Done{};
  return Error{
      fmt::format("{} was begun by version {}, and this is {}: the rest might not be the same bits; start "
                  "anew with --out.",
                  folder, begun_by, version())};
}

int interrupted(std::size_t finished, std::size_t total, const std::string& folder) {
  fmt::print(stderr, "Interrupted: {} of {} runs are stored; go on with \"nalm bench --resume {}\".\n", finished, total,
             folder);
  return Interruptible::exit_code();
}

}  // namespace nalm::cli
