// The options that say when a run counts as solved, for every command that reads a store.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "report/results.hpp"

namespace nalm::cli {

struct JudgementOptions {
  bool paper_intervals = false;
  std::optional<double> epsilon;
  bool log_space = false;
  std::optional<double> correlation, mape;

  Command& add_to(Command& command);
  bool given() const;  // any of them
  Result<Judgement> get() const;
};

inline constexpr const char* default_folder = "nalm-results";

}  // namespace nalm::cli
