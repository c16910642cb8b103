// A formula as a list of operations over whole blocks of rows, with derivatives by its constants: what least squares
// needs thousands of times.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "nalm/expression.hpp"

namespace nalm::fitting {

// The constants that are fitted stand in the formula as variables of these names; no column can be called so.
std::string slot_name(int slot);
int slot_number(const std::string& name);  // -1: a column

class Tape {
 public:
  static constexpr std::size_t block = 128;  // rows

  // rows[k] points at the columns of one row.
  Tape(const Expression& formula, const std::vector<std::string>& columns, int slots,
       std::span<const double* const> rows);
  Tape(const Tape&) = delete;  // steps point into kept_
  Tape& operator=(const Tape&) = delete;

  int slots() const { return slots_; }

  // Values of the formula for `count` <= block rows from a multiple of block on.
  // With derivatives: d[slot * block + k].
  void run(std::size_t first, std::size_t count, const std::vector<double>& slots, double* values,
           double* derivatives = nullptr);

 private:
  struct Step {
    Expression::Kind kind;
    int a = -1, b = -1;  // operands
    int column = -1, slot = -1;
    double constant = 0;  // of a Power: the exponent, if it is a constant
    bool constant_power = false;
    const Expression* call = nullptr;
    bool depends = false;    // on a slot
    double* kept = nullptr;  // values for all rows, of what slots do not change but steps that depend on them need
  };
  double* value(int step, std::size_t first) {
    const Step& s = steps_[static_cast<std::size_t>(step)];
    return s.kept ? s.kept + first : values_.data() + static_cast<std::size_t>(step) * block;
  }
  double* by(int step) { return by_.data() + static_cast<std::size_t>(step) * block; }
  bool depends(int step) const { return step >= 0 && steps_[static_cast<std::size_t>(step)].depends; }
  void values_of(const Step& step, double* y, std::size_t first, std::size_t count);
  void pass_back(const Step& step, int index, std::size_t first, std::size_t count);

  Expression formula_;  // owns what Step::call points at
  int slots_;
  std::vector<Step> steps_;
  std::vector<double> values_, by_, kept_;  // by_: the derivative of the formula by each step
};

}  // namespace nalm::fitting
