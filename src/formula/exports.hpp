// One function per format of export_formula().
#pragma once

#include <string>
#include <vector>

#include "nalm/expression.hpp"
#include "nalm/formula_export.hpp"

namespace nalm::formula {

struct Exported {
  const Expression& formula;
  const std::string& target;
  const std::vector<std::string>& columns;
  int row;                                   // of a spreadsheet
  const std::vector<std::string>& positive;  // columns
};

// One per line of the list in export.cpp.
using Export = std::string(const Exported&);
Export export_text, export_latex, export_mathml, export_sympy, export_python, export_numpy, export_c,
    export_spreadsheet;

// Text from outside that is safe to show in one line: control characters become blanks, and what is not UTF-8 a "?".
std::string one_line(const std::string& text);

// A remark in front of a formula of the format, with a newline; empty where the format has no remarks.
std::string remark(FormulaFormat format, const std::string& text);

}  // namespace nalm::formula
