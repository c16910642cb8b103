// The options that say when a run counts as solved, and what is shown, for every command that reads a store.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "experiment/criterion.hpp"

namespace nalm::cli {

struct JudgementOptions {
  bool paper_intervals = false;
  std::string metric;  // see report/table.hpp; correlation and mape are criteria
  std::optional<double> epsilon, limit, correlation, mape;
  bool log_space = false;

  Command& add_to(Command& command);
  bool given() const;  // any of them
  Result<Judgement> get() const;
  // The table's metric: empty for the task's usual one.
  std::string table_metric() const { return metric == "correlation" || metric == "mape" ? "success" : metric; }
};

inline constexpr const char* default_folder = "nalm-results";

}  // namespace nalm::cli
