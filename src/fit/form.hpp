// The shape of a formula: a sum of products of powers, whose bases are columns or sums of products of powers again.
//
//   y = sum_p C_p * prod_i x_i^P_pi * prod_s S_s^V_ps,     S_s = sum_t c_st * prod_i x_i^p_sti
//
// Sums of products, ratios of sums, roots of sums and products of differences all have this shape, and so do the stacks
// that the search trains. With functions (FitOptions::functions) there are atoms, f(sum of products of powers of
// columns), which stand behind the columns as further ones, and one function may stand around the whole.
// form_algebra.hpp says when two forms are the same formula, form_spell.hpp how many ways there are to write one; a
// form turns into a formula (to_expression) and into layers (form_layers.hpp).
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fit/data.hpp"
#include "nalm/expression.hpp"

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
  std::vector<std::pair<std::size_t, double>> sums;  // index into Form::sums, and its power
};

// A function of a sum of products of powers of columns. In a form with atoms, powers of sums and products are those of
// the columns and then of the atoms; those of an argument are of columns alone.
struct Atom {
  std::string function;
  InnerSum argument;
  bool negative = true;  // it has negative values on the rows
};

struct Form {
  std::vector<InnerSum> sums;
  std::vector<Product> products;
  std::vector<Atom> atoms = {};
  std::string outer = {};  // the function around the whole; empty: none
};

// A form, and how well it does on some rows.
struct Scored {
  Form form;
  double mse = infinity;                // in units of the target's size
  double length = infinity;             // description length
  std::vector<double> deviations = {};  // standard error of each free number, if known
};

bool is_whole(double value);
bool is_constant(const PowerList& powers);
PowerList power_of_column(std::size_t columns, std::size_t column, double power);
void add_powers(PowerList& to, const PowerList& powers, double times);

// All columns with a factor each, and a constant.
Form sum_of_columns(const Data& data);

// Calls visit(number) for all numbers: those of the products, then those of the sums, then those of the atoms.
template <class AnyForm, class Visit>
void for_each_number(AnyForm& form, Visit visit) {
  for (auto& product : form.products) visit(product.coefficient);
  for (auto& sum : form.sums) {
    for (auto& term : sum.terms) visit(term.coefficient);
  }
  for (auto& atom : form.atoms) {
    for (auto& term : atom.argument.terms) visit(term.coefficient);
  }
}
std::vector<Number*> numbers(Form& form);

// The free numbers, in the order of their slots in to_expression(form, ..., true).
std::vector<double> free_values(const Form& form);
void set_free_values(Form& form, const std::vector<double>& values);
int free_count(const Form& form);

Expression to_expression(const Form& form, const std::vector<std::string>& columns, const std::vector<bool>& negative,
                         bool with_slots = false);

Expression to_expression(const Atom& atom, const std::vector<std::string>& columns, const std::vector<bool>& negative);

// Operations, variables and numbers of an expression.
int size_of(const Expression& expression);

}  // namespace nalm::fitting
