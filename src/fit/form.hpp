// The shape of a formula: a sum of products of powers, whose bases are columns or sums of products of powers again.
//
//   y = sum_p C_p * prod_i x_i^P_pi * prod_s S_s^V_ps,     S_s = sum_t c_st * prod_i x_i^p_sti
//
// Sums of products, ratios of sums, roots of sums and products of differences all have this shape, and so do the stacks
// that the search trains. A form turns into a formula (to_expression) and into layers (to_model).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fit/data.hpp"
#include "nalm/expression.hpp"
#include "nalm/model.hpp"

namespace nalm::fitting {

// A number in a form: free to be fitted, or fixed because of how the formula is written or because it was rounded.
struct Number {
  double value = 1;
  bool free = true;
};

using PowerList = std::vector<double>;  // one per column

struct Term {
  Number coefficient;
  PowerList powers;
};

struct InnerSum {
  std::vector<Term> terms;
};

struct Product {
  Number coefficient;
  PowerList powers;
  std::vector<std::pair<int, double>> sums;  // index into Form::sums, and its power
};

struct Form {
  std::vector<InnerSum> sums;
  std::vector<Product> products;
};

bool is_whole(double value);
bool is_constant(const PowerList& powers);

// All columns with a factor each, and a constant.
Form sum_of_columns(const Data& data);

// Brings a form into the order and the spelling in which equal formulas are equal: no sum with a single term, no
// common factor inside a sum, no negative power inside a sum, first coefficient of a sum 1. False: it is not a formula
// (a root of something negative, no number left, ...). negative[i]: the column has negative values.
bool normalise(Form& form, const std::vector<bool>& negative);

// The same for equal formulas whatever their numbers are.
std::string key_of(const Form& form);

// Ways to write the same formula with other numbers in it: which term of a sum has the coefficient 1, and whether a
// factor stands before a sum or inside of it.
std::vector<Form> spellings(const Form& form);

// A form without inner sums, if their powers are small whole numbers: (a - b)^2 becomes a^2 - 2ab + b^2.
std::optional<Form> expanded(const Form& form);

// The free numbers, in the order of their slots in to_expression(form, ..., true).
std::vector<double> free_values(const Form& form);
void set_free_values(Form& form, const std::vector<double>& values);
std::vector<Number*> numbers(Form& form);  // all of them
int free_count(const Form& form);

Expression to_expression(const Form& form, const std::vector<std::string>& columns, const std::vector<bool>& negative,
                         bool with_slots = false);
Model to_model(const Form& form, const std::vector<std::string>& columns);

// Operations, variables and numbers of an expression.
int size_of(const Expression& expression);

}  // namespace nalm::fitting
