// A formula as a list of operations over whole blocks of rows, with derivatives by its constants: what least squares
// needs thousands of times.
#pragma once

#include <cstddef>
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

  Tape(const Expression& formula, const std::vector<std::string>& columns, int slots);

  int slots() const { return slots_; }

  // Values of the formula for `count` <= block rows; rows[k] points at the columns of one row.
  // With derivatives: d[slot * block + k].
  void run(const double* const* rows, std::size_t count, const std::vector<double>& slots, double* values,
           double* derivatives = nullptr);

 private:
  struct Step {
    Expression::Kind kind;
    int a = -1, b = -1;  // operands
    int column = -1, slot = -1;
    double constant = 0;
    const Expression* call = nullptr;
    bool depends = false;  // on a slot
  };
  void values_of(const Step& step, std::size_t index, std::size_t count);
  void derivatives_of(const Step& step, std::size_t index, std::size_t count);
  double* value(int step) { return values_.data() + static_cast<std::size_t>(step) * block; }
  double* derivative(int step, int slot) {
    return derivatives_.data() +
           (static_cast<std::size_t>(step) * static_cast<std::size_t>(slots_) + static_cast<std::size_t>(slot)) * block;
  }

  Expression formula_;  // owns what Step::call points at
  int slots_;
  std::vector<Step> steps_;
  std::vector<double> values_, derivatives_;
};

}  // namespace nalm::fitting
