// Tables of the formulas that fits are judged on, as files.
#pragma once

#include <string>

#include "experiment/plan.hpp"

namespace nalm {

// Writes the table of every cell of a plan of this task, and formulas.csv that says what made them; how many tables.
Result<std::size_t> emit_tables(const Plan& plan, const std::string& folder);

}  // namespace nalm
