// How many of a set of formulas `nalm fit` finds again: a cell is a formula and a table made from it, a run is a fit.
// What tasks of this kind differ in is data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/plan.hpp"
#include "tasks/formulas/formula_judge.hpp"
#include "tasks/formulas/formula_set.hpp"

namespace nalm {

// Options that the command line does not name are those below; the preset quick has 200 rows without noise.
struct FormulaBenchmark {
  Result<std::vector<FormulaCase>> (*formulas)();
  std::span<const std::string_view> parts;  // the first is what is run unless --part says otherwise
  std::string_view rows, noise;
  std::vector<std::string_view> quick;  // names
  NoiseUnit noise_unit = NoiseUnit::Deviation;
  const JudgeRule& rule;
};

// The benchmark must outlive the cells.
Result<std::vector<Cell>> formula_cells(const Plan& plan, const FormulaBenchmark& benchmark);

// Writes the table of every cell of a plan, and formulas.csv that says what made them; how many tables.
Result<std::size_t> emit_tables(const Plan& plan, const FormulaBenchmark& benchmark, const std::string& folder);

}  // namespace nalm
