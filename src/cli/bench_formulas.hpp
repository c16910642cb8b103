// nalm bench --task formulas: how many of a set of formulas a fit finds again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace nalm::cli {

struct FormulaOptions {
  std::vector<int> rows{200, 10000};
  std::vector<double> noise{0, 0.01, 0.1};
  std::string part = "tune", only, markdown, emit;
  std::uint64_t seed = 1;

  Command& add_to(Command& command);
  bool operator==(const FormulaOptions&) const = default;
};

int bench_formulas(const FormulaOptions& options, const std::string& csv_path, int threads, bool quiet);

}  // namespace nalm::cli
