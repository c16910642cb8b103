// What the benchmarks share around their runs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/progress.hpp"
#include "nalm/result.hpp"

namespace nalm::cli {

// Where results go, and who is told about them.
struct BenchOutput {
  std::string folder, series;  // series: a CSV file, or empty
  int threads = 0;
  bool quiet = false, json_lines = false;

  bool talks() const { return !quiet && !json_lines; }
  ProgressStyle progress() const {
    return quiet ? ProgressStyle::Quiet : json_lines ? ProgressStyle::JsonLines : default_progress();
  }
  int thread_count() const;
};

std::string now();  // UTC

// One line; what is not Unicode, such as the name of a folder, is replaced.
std::string line_of(const nlohmann::json& event);

// A store is only gone on with by the version that began it.
Status check_version(const std::string& folder, const std::string& begun_by);

// Says that it was interrupted, and gives the exit code.
int interrupted(std::size_t finished, std::size_t total, const std::string& folder);

}  // namespace nalm::cli
