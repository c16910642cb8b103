// One function per format of export_formula().
#pragma once

#include <string>
#include <vector>

#include "nalm/expression.hpp"

namespace nalm::formula {

struct Exported {
  const Expression& formula;
  const std::string& target;
  const std::vector<std::string>& columns;
  int row = 2;  // of a spreadsheet
};

std::string export_text(const Exported& exported);
std::string export_latex(const Exported& exported);
std::string export_mathml(const Exported& exported);
std::string export_sympy(const Exported& exported);
std::string export_python(const Exported& exported);
std::string export_c(const Exported& exported);
std::string export_spreadsheet(const Exported& exported);

// Text from outside that is safe to show in one line: control characters become blanks, and what is not UTF-8 a "?".
std::string one_line(const std::string& text);

}  // namespace nalm::formula
