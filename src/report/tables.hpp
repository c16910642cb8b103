// The benchmark's tables as text.
#pragma once

#include <string>

#include "report/results.hpp"

namespace nalm {

enum class TableFormat { Terminal, Csv, Markdown, Json, Latex };

std::string print_table(const Results& results, TableFormat format);

// Successes by range and module, one small matrix per operation: what fits on a screen.
std::string print_overview(const Results& results);

// Every logged row of a store: module,operation,range,seed,step,validation_mse,test_mse,sparsity_error. Numbers are
// the shortest that read back to the same bits.
Status write_series(const RunStore& store, const std::string& path);

}  // namespace nalm
