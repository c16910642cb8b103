#include "fit/form.hpp"

#include <algorithm>
#include <cmath>

#include "fit/tape.hpp"
#include "formula/node.hpp"
#include "nalm/modules/nru_power.hpp"

namespace nalm::fitting {

bool is_whole(double value) { return value == std::round(value); }

bool is_constant(const PowerList& powers) {
  return std::all_of(powers.begin(), powers.end(), [](double p) { return p == 0; });
}

PowerList power_of_column(std::size_t columns, std::size_t column, double power) {
  PowerList powers(columns, 0.0);
  powers[column] = power;
  return powers;
}

void add_powers(PowerList& to, const PowerList& powers, double times) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += powers[i] * times;
}

Form sum_of_columns(const Data& data) {
  Form form;
  for (std::size_t i = 0; i < data.inputs; ++i) {
    form.products.push_back({{data.y_scale / data.x_scale[i], true}, power_of_column(data.inputs, i, 1), {}});
  }
  form.products.push_back({{data.y_scale, true}, PowerList(data.inputs, 0.0), {}});
  return form;
}

std::vector<Number*> numbers(Form& form) {
  std::vector<Number*> result;
  for_each_number(form, [&](Number& number) { result.push_back(&number); });
  return result;
}

std::vector<double> free_values(const Form& form) {
  std::vector<double> values;
  for_each_number(form, [&](const Number& number) {
    if (number.free) values.push_back(number.value);
  });
  return values;
}

void set_free_values(Form& form, const std::vector<double>& values) {
  std::size_t next = 0;
  for_each_number(form, [&](Number& number) {
    if (number.free) number.value = values[next++];
  });
}

int free_count(const Form& form) {
  int count = 0;
  for_each_number(form, [&](const Number& number) { count += number.free; });
  return count;
}

// ---- the formula ---------------------------------------------------------------------------------------------------

namespace {

class Writer {
 public:
  Writer(const Form& form, const std::vector<std::string>& columns, const std::vector<bool>& negative, bool with_slots)
      : form_(form), negative_(negative) {
    for (const std::string& column : columns) columns_.push_back(Expression::variable(column));
    int slot = 0;
    for_each_number(form, [&](const Number& number) {
      const bool open = with_slots && number.free;
      numbers_.push_back(open ? Expression::variable(slot_name(slot++)) : Expression(number.value));
    });
    std::size_t next = form.products.size();
    for (const InnerSum& sum : form.sums) next += sum.terms.size();
    for (const Atom& atom : form.atoms) {
      columns_.push_back(formula::call(atom.function, {argument(atom.argument, next)}));
      negative_.push_back(atom.negative);
      next += atom.argument.terms.size();
    }
    next = form.products.size();
    for (const InnerSum& sum : form.sums) {
      sums_.push_back(inner_sum(sum, next));
      next += sum.terms.size();
    }
  }

  Expression formula() const {
    Expression sum = 0.0;
    for (std::size_t p = 0; p < form_.products.size(); ++p) {
      Sides sides = columns_of(form_.products[p].powers);
      for (const auto& [s, power] : form_.products[p].sums) sides.add(sums_[s], power);
      sum += sides.times(numbers_[p]);
    }
    return form_.outer.empty() ? sum : formula::call(form_.outer, {sum});
  }
  Expression atom(std::size_t k) const { return columns_[columns_.size() - form_.atoms.size() + k]; }

 private:
  // Of a fraction.
  struct Sides {
    std::vector<Expression> above, below;

    void add(const Expression& base, double power) {
      const double size = std::fabs(power);
      (power > 0 ? above : below).push_back(size == 0.5 ? sqrt(base) : pow(base, size));
    }
    Expression times(Expression coefficient) const {
      for (const Expression& factor : above) coefficient *= factor;
      if (below.empty()) return coefficient;
      Expression denominator = below[0];
      for (std::size_t k = 1; k < below.size(); ++k) denominator *= below[k];
      return coefficient / denominator;
    }
  };

  Sides columns_of(const PowerList& powers) const {
    Sides sides;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (powers[i] == 0) continue;
      const Expression& column = columns_[i];
      // As the layers compute it: a power of the magnitude, and the sign if the rounded power is odd.
      const bool magnitude = negative_[i] && !is_whole(powers[i]);
      sides.add(magnitude ? abs(column) : column, powers[i]);
      if (magnitude && modules::NruPower::counts_sign(powers[i])) sides.above.push_back(sign(column));
    }
    return sides;
  }

  // t*(a - b) rather than a*t - b*t: where a and b are close, digits are lost otherwise.
  Expression argument(const InnerSum& sum, std::size_t first_number) const {
    InnerSum rest = sum;
    PowerList common = sum.terms[0].powers;
    for (const Term& term : sum.terms) {
      for (std::size_t i = 0; i < common.size(); ++i)
        if (term.powers[i] != common[i]) common[i] = 0;
    }
    if (sum.terms.size() == 1 || is_constant(common)) return inner_sum(sum, first_number);
    for (Term& term : rest.terms) add_powers(term.powers, common, -1);
    return columns_of(common).times(inner_sum(rest, first_number));
  }

  Expression inner_sum(const InnerSum& sum, std::size_t first_number) const {
    // A term that is added goes first: b - a rather than -a + b.
    std::vector<std::size_t> order;
    for (std::size_t t = 0; t < sum.terms.size(); ++t) order.push_back(t);
    std::stable_partition(order.begin(), order.end(),
                          [&](std::size_t t) { return sum.terms[t].coefficient.value > 0; });
    Expression result = 0.0;
    for (const std::size_t t : order) result += columns_of(sum.terms[t].powers).times(numbers_[first_number + t]);
    return result;
  }

  const Form& form_;
  std::vector<Expression> columns_, numbers_, sums_;
  std::vector<bool> negative_;
};

}  // namespace

Expression to_expression(const Form& form, const std::vector<std::string>& columns, const std::vector<bool>& negative,
                         bool with_slots) {
  return Writer(form, columns, negative, with_slots).formula();
}

Expression to_expression(const Atom& atom, const std::vector<std::string>& columns, const std::vector<bool>& negative) {
  const Form form{{}, {}, {atom}};
  return Writer(form, columns, negative, false).atom(0);
}

int size_of(const Expression& expression) {
  int size = 0;
  formula::visit_operands_first(expression, [&](const Expression&) { ++size; });
  return size;
}

}  // namespace nalm::fitting
