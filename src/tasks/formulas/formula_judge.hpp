// Whether a formula that was found is the one that made the data, however either is written.
//
// Without noise: the found formula must give the true values to 1e-6 on the boxes of a rule. With noise its constants
// cannot be that accurate, so they are set free, and it must become the true formula with every constant inside its
// interval.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nalm/expression.hpp"
#include "nalm/fit.hpp"
#include "tasks/formulas/formula_set.hpp"

namespace nalm {

enum class Recovery {
  Exact,            // gives the true values
  WithinIntervals,  // gives them after its constants moved inside their intervals
  OutsideInterval,  // gives them after a constant left its interval
  AnotherFormula,
  NoFormula,
};

struct FormulaVerdict {
  Recovery recovery = Recovery::NoFormula;
  bool recovered = false;  // with noise Exact or WithinIntervals, without noise Exact alone
  std::string words;       // "exact", "same formula, constant 2 outside its interval", ...
  double error = 0;        // of the formula as it was found, relative, at the points below; may be infinite
  int points = 0;          // of the widest box, where the true formula is defined, of 10,000
};

inline constexpr double judge_tolerance = 1e-6;

// Where a formula must give the true values, and which error is meant.
struct JudgeRule {
  std::string_view error_name;
  std::vector<double> boxes;  // times as wide as the data, the widest last
  bool mean_square = false;   // root mean square of all points; otherwise the largest of any
};
// The own set has formulas that are defined nearly everywhere.
inline const JudgeRule far_outside{"largest_error", {10}};
// Fresh rows, and a box that is a little wider: other people's sets have ranges outside of which there is no formula.
inline const JudgeRule around_the_data{"rms_error", {1, 1.3}, true};

// Points of a box around the data, and the true values there.
struct JudgePoints {
  std::vector<std::string> names;
  std::vector<double> inputs;  // row-major
  std::vector<double> truth;
  std::vector<double> reference;  // what an error is relative to
  std::size_t size() const { return truth.size(); }
  std::span<const double> row(std::size_t k) const { return {&inputs[k * names.size()], names.size()}; }
};

// `count` points of a box `widening` times as wide as the data with the same centre, without those where the true
// formula is not finite.
//
// Inputs whose data have one sign keep it if the true formula has them under a root: m/sqrt(1 - v^2/c^2) and
// m*c/sqrt(c^2 - v^2) are the same formula for the speeds that there are.
//
// An error is relative to |truth|, except where the true formula cancels by more than 1000: there it is relative to a
// thousandth of its scale (evaluate_with_scale). T2 - T1 is zero at some point of any wide box, and no number that was
// estimated gives six digits of it beside that point. Points where the scale is infinite, such as a comparison of equal
// values, are left out.
JudgePoints judge_points(const FormulaCase& formula, double widening, int count, std::uint64_t seed);

// Judges one formula. Its constants are the numbers in it that were estimated, with their intervals and their places;
// other numbers, and exponents, stay as they are.
FormulaVerdict judge_formula(const FormulaCase& truth, const Candidate& found, bool noisy,
                             const JudgeRule& rule = far_outside);

// Judges the best candidate; a fit that does not believe it has found no formula.
FormulaVerdict judge_fit(const FormulaCase& truth, const Fit& fit, bool noisy, const JudgeRule& rule = far_outside);

// A law that does not hold: on the box twice as wide R2 is below 0.9, or less than 80 % of its values are finite.
bool is_false_law(const FormulaCase& truth, const Fit& fit);

}  // namespace nalm
