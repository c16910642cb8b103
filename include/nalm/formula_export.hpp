// Formulas for elsewhere: documents, programs, spreadsheets and web pages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nalm/expression.hpp"
#include "nalm/result.hpp"

namespace nalm {

enum class FormulaFormat { Text, Latex, Sympy, Python, C, Spreadsheet, MathMl };

// By one of the format_names(): text, latex, sympy, python, c, spreadsheet, mathml.
Result<FormulaFormat> find_format(std::string_view name);
std::string format_names();

// The formula with "target = " in front, or whatever gives a formula its name there; no newline at the end.
//
// Text: what print() writes. Latex: for math mode, with nothing but plain LaTeX. MathMl: an element for HTML. Python
// and C (which is C++ as well): one function named after the target whose parameters are the columns used, with nothing
// but the standard mathematics. Sympy: a Python program that makes the symbols, and the formula of them with exact
// numbers. Spreadsheet: a formula whose cells are in this row, each column where it has its place in `columns`.
//
// Names that the language does not allow are changed, and a comment says which column is which. Columns that are known
// to be positive are declared so where the language has that (SymPy).
std::string export_formula(const Expression& formula, const std::string& target,
                           const std::vector<std::string>& columns, FormulaFormat format, int row = 2,
                           const std::vector<std::string>& positive = {});

}  // namespace nalm
