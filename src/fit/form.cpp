#include "fit/form.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "fit/tape.hpp"
#include "formula/node.hpp"
#include "nalm/modules/nru_power.hpp"

namespace nalm::fitting {

namespace {

PowerList no_powers(std::size_t columns) { return PowerList(columns, 0.0); }

// Larger powers of earlier columns first, the constant last.
bool comes_before(const PowerList& a, const PowerList& b) {
  return std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end());
}

void merge_equal_terms(InnerSum& sum) {
  std::stable_sort(sum.terms.begin(), sum.terms.end(),
                   [](const Term& a, const Term& b) { return comes_before(a.powers, b.powers); });
  std::vector<Term> merged;
  for (Term& term : sum.terms) {
    if (!merged.empty() && merged.back().powers == term.powers) {
      merged.back().coefficient.value += term.coefficient.value;
    } else {
      merged.push_back(std::move(term));
    }
  }
  std::erase_if(merged, [](const Term& t) { return t.coefficient.value == 0 || !std::isfinite(t.coefficient.value); });
  sum.terms = std::move(merged);
}

// Takes a common monomial and a common number out of the sum, and multiplies every product that uses it accordingly.
bool pull_out_common_factor(Form& form, int index, const std::vector<bool>& negative) {
  InnerSum& sum = form.sums[static_cast<std::size_t>(index)];
  const std::size_t columns = negative.size();
  bool whole_powers = true;
  for (const Product& product : form.products) {
    for (const auto& [s, power] : product.sums) whole_powers = whole_powers && (s != index || is_whole(power));
  }
  PowerList common = no_powers(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    if (!whole_powers && negative[i]) continue;  // the root of x^2 is not x
    double least = sum.terms[0].powers[i];
    for (const Term& term : sum.terms) least = std::min(least, term.powers[i]);
    common[i] = least;
  }
  const double first = sum.terms[0].coefficient.value;
  const double factor = whole_powers ? first : std::fabs(first);
  for (Term& term : sum.terms) {
    for (std::size_t i = 0; i < columns; ++i) term.powers[i] -= common[i];
    term.coefficient.value /= factor;
    term.coefficient.free = true;
  }
  sum.terms[0].coefficient = {sum.terms[0].coefficient.value < 0 ? -1.0 : 1.0, false};
  for (Product& product : form.products) {
    for (const auto& [s, power] : product.sums) {
      if (s != index) continue;
      product.coefficient.value *= std::pow(factor, power);
      for (std::size_t i = 0; i < columns; ++i) product.powers[i] += common[i] * power;
    }
  }
  return true;
}

// A sum of one term is a factor like any other.
bool dissolve_single_terms(Form& form, const std::vector<bool>& negative) {
  // The root of x^2 is not x where x can be negative.
  const auto keeps = [&](const Term& term, double power) {
    for (std::size_t i = 0; i < negative.size() && !is_whole(power); ++i) {
      if (term.powers[i] != 0 && negative[i]) return true;
    }
    return false;
  };
  for (Product& product : form.products) {
    std::vector<std::pair<int, double>> kept;
    for (const auto& [s, power] : product.sums) {
      const InnerSum& sum = form.sums[static_cast<std::size_t>(s)];
      if (sum.terms.empty()) return false;
      if (sum.terms.size() > 1 || keeps(sum.terms[0], power)) {
        kept.push_back({s, power});
        continue;
      }
      product.coefficient.value *= std::pow(sum.terms[0].coefficient.value, power);
      for (std::size_t i = 0; i < product.powers.size(); ++i) product.powers[i] += sum.terms[0].powers[i] * power;
    }
    product.sums = std::move(kept);
    if (!std::isfinite(product.coefficient.value)) return false;
  }
  return true;
}

bool same_terms(const InnerSum& a, const InnerSum& b) {
  if (a.terms.size() != b.terms.size()) return false;
  for (std::size_t k = 0; k < a.terms.size(); ++k) {
    const double x = a.terms[k].coefficient.value, y = b.terms[k].coefficient.value;
    if (a.terms[k].powers != b.terms[k].powers || std::fabs(x - y) > 1e-9 * std::fabs(x)) return false;
  }
  return true;
}

std::string text_of(const PowerList& powers) {
  std::string text;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    if (powers[i] != 0) text += fmt::format("x{}^{};", i, powers[i]);
  }
  return text;
}

std::string key_of_sum(const InnerSum& sum) {
  std::string text;
  for (const Term& term : sum.terms) text += text_of(term.powers) + "+";
  return text;
}

std::string key_of_product(const Form& form, const Product& product) {
  std::string text = text_of(product.powers);
  for (const auto& [s, power] : product.sums) {
    text += fmt::format("({})^{};", key_of_sum(form.sums[static_cast<std::size_t>(s)]), power);
  }
  return text;
}

// Unused and equal sums go; the rest are put in order.
void tidy_sums(Form& form) {
  std::vector<int> order;
  for (std::size_t s = 0; s < form.sums.size(); ++s) {
    bool used = false;
    for (const Product& product : form.products) {
      for (const auto& [index, power] : product.sums) used = used || index == static_cast<int>(s);
    }
    if (used) order.push_back(static_cast<int>(s));
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return key_of_sum(form.sums[static_cast<std::size_t>(a)]) < key_of_sum(form.sums[static_cast<std::size_t>(b)]);
  });
  std::vector<InnerSum> kept;
  std::vector<int> renamed(form.sums.size(), -1);
  for (const int s : order) {
    const InnerSum& sum = form.sums[static_cast<std::size_t>(s)];
    for (std::size_t k = 0; k < kept.size(); ++k) {
      if (same_terms(kept[k], sum)) renamed[static_cast<std::size_t>(s)] = static_cast<int>(k);
    }
    if (renamed[static_cast<std::size_t>(s)] >= 0) continue;
    renamed[static_cast<std::size_t>(s)] = static_cast<int>(kept.size());
    kept.push_back(sum);
  }
  for (Product& product : form.products) {
    std::vector<double> power_of(kept.size(), 0.0);
    for (const auto& [s, power] : product.sums)
      power_of[static_cast<std::size_t>(renamed[static_cast<std::size_t>(s)])] += power;
    product.sums.clear();
    for (std::size_t k = 0; k < kept.size(); ++k) {
      if (power_of[k] != 0) product.sums.push_back({static_cast<int>(k), power_of[k]});
    }
  }
  form.sums = std::move(kept);
}

void merge_equal_products(Form& form) {
  std::stable_sort(form.products.begin(), form.products.end(), [&](const Product& a, const Product& b) {
    if (a.powers != b.powers) return comes_before(a.powers, b.powers);
    return key_of_product(form, a) > key_of_product(form, b);
  });
  std::vector<Product> merged;
  for (Product& product : form.products) {
    if (!merged.empty() && merged.back().powers == product.powers && merged.back().sums == product.sums) {
      merged.back().coefficient.value += product.coefficient.value;
    } else {
      merged.push_back(std::move(product));
    }
  }
  std::erase_if(merged, [](const Product& p) { return p.coefficient.value == 0; });
  form.products = std::move(merged);
  // The constant stands last.
  std::stable_partition(form.products.begin(), form.products.end(),
                        [](const Product& p) { return !is_constant(p.powers) || !p.sums.empty(); });
}

// C*(a + b*c) with nothing else: a plain sum.
void expand_single_sum(Form& form) {
  if (form.products.size() != 1) return;
  const Product product = form.products[0];
  if (product.sums.size() != 1 || product.sums[0].second != 1 || !is_constant(product.powers)) return;
  const InnerSum sum = form.sums[static_cast<std::size_t>(product.sums[0].first)];
  form.products.clear();
  form.sums.clear();
  for (const Term& term : sum.terms) {
    form.products.push_back({{term.coefficient.value * product.coefficient.value, true}, term.powers, {}});
  }
}

// a*b + a*c is a*(b + c).
bool factor_plain_sum(Form& form) {
  if (form.products.size() < 2) return false;
  for (const Product& product : form.products) {
    if (!product.sums.empty()) return false;
  }
  const std::size_t columns = form.products[0].powers.size();
  PowerList common = no_powers(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    double least = form.products[0].powers[i], most = least;
    for (const Product& product : form.products) {
      least = std::min(least, product.powers[i]), most = std::max(most, product.powers[i]);
    }
    common[i] = least > 0 ? least : most < 0 ? most : 0;
  }
  if (is_constant(common)) return false;
  InnerSum sum;
  for (const Product& product : form.products) {
    Term term{product.coefficient, product.powers};
    for (std::size_t i = 0; i < columns; ++i) term.powers[i] -= common[i];
    sum.terms.push_back(std::move(term));
  }
  form.sums = {std::move(sum)};
  form.products = {Product{{1, true}, std::move(common), {{0, 1.0}}}};
  return true;
}

}  // namespace

bool is_whole(double value) { return value == std::round(value); }
bool is_constant(const PowerList& powers) {
  return std::all_of(powers.begin(), powers.end(), [](double p) { return p == 0; });
}

Form sum_of_columns(const Data& data) {
  Form form;
  for (std::size_t i = 0; i < data.inputs; ++i) {
    PowerList powers(data.inputs, 0.0);
    powers[i] = 1;
    form.products.push_back({{data.y_scale / data.x_scale[i], true}, powers, {}});
  }
  form.products.push_back({{data.y_scale, true}, PowerList(data.inputs, 0.0), {}});
  return form;
}

bool normalise(Form& form, const std::vector<bool>& negative) {
  for (int pass = 0; pass < 3; ++pass) {
    for (InnerSum& sum : form.sums) merge_equal_terms(sum);
    if (!dissolve_single_terms(form, negative)) return false;
    tidy_sums(form);
    for (std::size_t s = 0; s < form.sums.size(); ++s) {
      pull_out_common_factor(form, static_cast<int>(s), negative);
      merge_equal_terms(form.sums[s]);
      if (form.sums[s].terms.size() > 1) pull_out_common_factor(form, static_cast<int>(s), negative);
    }
    tidy_sums(form);
    merge_equal_products(form);
    expand_single_sum(form);
    merge_equal_products(form);
    if (!factor_plain_sum(form)) break;
  }
  for (Product& product : form.products) {
    if (!std::isfinite(product.coefficient.value)) return false;
    product.coefficient.free = true;
    for (double& power : product.powers) {
      if (std::fabs(power - std::round(power * 12) / 12) < 1e-12) power = std::round(power * 12) / 12;
    }
  }
  if (form.products.empty()) return false;
  return form.products.size() > 1 || !form.products[0].sums.empty() || !is_constant(form.products[0].powers);
}

std::string key_of(const Form& form) {
  std::string text;
  for (const Product& product : form.products) text += key_of_product(form, product) + " + ";
  return text;
}

std::optional<Form> expanded(const Form& form) {
  if (form.sums.empty()) return std::nullopt;
  Form result;
  for (const Product& product : form.products) {
    std::vector<Product> terms = {{product.coefficient, product.powers, {}}};
    for (const auto& [index, power] : product.sums) {
      if (!is_whole(power) || power < 1 || power > 3) return std::nullopt;
      const InnerSum& sum = form.sums[static_cast<std::size_t>(index)];
      for (int k = 0; k < static_cast<int>(power); ++k) {
        std::vector<Product> next;
        for (const Product& a : terms) {
          for (const Term& b : sum.terms) {
            Product c = a;
            c.coefficient.value *= b.coefficient.value;
            for (std::size_t i = 0; i < c.powers.size(); ++i) c.powers[i] += b.powers[i];
            next.push_back(std::move(c));
          }
        }
        terms = std::move(next);
        if (terms.size() > 60) return std::nullopt;
      }
    }
    result.products.insert(result.products.end(), terms.begin(), terms.end());
  }
  return result;
}

namespace {

// a^2 + 2ab + b^2 is (a + b)^2: the first such triple of a plain sum. Numbers may be off by their errors.
std::optional<Form> with_a_square(const Form& form) {
  const std::vector<Product>& p = form.products;
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = i + 1; j < p.size(); ++j) {
      const double a = p[i].coefficient.value, b = p[j].coefficient.value;
      if (!p[i].sums.empty() || !p[j].sums.empty() || a * b <= 0) continue;
      for (std::size_t k = 0; k < p.size(); ++k) {
        if (k == i || k == j || !p[k].sums.empty()) continue;
        bool fits = std::fabs(std::fabs(p[k].coefficient.value) / (2 * std::sqrt(a * b)) - 1) < 0.05;
        for (std::size_t c = 0; fits && c < p[k].powers.size(); ++c) {
          const double x = p[i].powers[c], y = p[j].powers[c];
          fits = 2 * p[k].powers[c] == x + y && is_whole(x / 2) && is_whole(y / 2);
        }
        if (!fits) continue;
        Form result = form;
        InnerSum sum;
        const double sign = (p[k].coefficient.value > 0) == (a > 0) ? 1 : -1;
        PowerList first = p[i].powers, second = p[j].powers;
        for (double& power : first) power /= 2;
        for (double& power : second) power /= 2;
        sum.terms = {{{1, false}, first}, {{sign * std::sqrt(b / a), true}, second}};
        result.sums.push_back(sum);
        std::vector<Product> rest;
        for (std::size_t m = 0; m < p.size(); ++m) {
          if (m != i && m != j && m != k) rest.push_back(p[m]);
        }
        rest.insert(
            rest.begin(),
            Product{{a, true}, PowerList(first.size(), 0.0), {{static_cast<int>(result.sums.size()) - 1, 2.0}}});
        result.products = std::move(rest);
        return result;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Form> spellings(const Form& form) {
  std::vector<Form> result{form};
  for (std::optional<Form> square = with_a_square(form); square; square = with_a_square(*square)) {
    result.push_back(*square);
  }
  const bool single = form.products.size() == 1;
  // Another term of a sum gets the coefficient 1.
  for (std::size_t s = 0; s < form.sums.size(); ++s) {
    bool whole_powers = true;
    for (const Product& product : form.products) {
      for (const auto& [index, power] : product.sums) {
        whole_powers = whole_powers && (index != static_cast<int>(s) || is_whole(power));
      }
    }
    const std::vector<Form> before = result;
    for (const Form& base : before) {
      for (std::size_t unit = 1; unit < base.sums[s].terms.size() && result.size() < 24; ++unit) {
        Form other = base;
        const double value = other.sums[s].terms[unit].coefficient.value;
        const double factor = whole_powers ? value : std::fabs(value);
        for (Term& term : other.sums[s].terms) term.coefficient = {term.coefficient.value / factor, true};
        other.sums[s].terms[unit].coefficient = {value < 0 && !whole_powers ? -1.0 : 1.0, false};
        for (Product& product : other.products) {
          for (const auto& [index, power] : product.sums) {
            if (index == static_cast<int>(s)) product.coefficient.value *= std::pow(factor, power);
          }
        }
        result.push_back(std::move(other));
      }
    }
  }
  // The factor in front moves into a sum.
  const std::vector<Form> before = result;
  for (const Form& base : before) {
    for (std::size_t k = 0; single && k < base.products[0].sums.size() && result.size() < 48; ++k) {
      const auto [index, power] = base.products[0].sums[k];
      const double c = base.products[0].coefficient.value;
      if (!is_whole(power) && c < 0) continue;
      Form other = base;
      const double factor = std::pow(std::fabs(c), 1 / power) * (c < 0 && is_whole(power) ? -1 : 1);
      if (std::pow(factor, power) * c < 0) continue;
      for (Term& term : other.sums[static_cast<std::size_t>(index)].terms) {
        term.coefficient = {term.coefficient.value * factor, true};
      }
      other.products[0].coefficient = {1, false};
      result.push_back(std::move(other));
    }
  }
  // A plain sum as a factor times a sum whose first coefficient is 1.
  if (form.sums.empty() && form.products.size() > 1) {
    for (std::size_t unit = 0; unit < form.products.size(); ++unit) {
      Form other;
      InnerSum sum;
      const double c = form.products[unit].coefficient.value;
      for (const Product& product : form.products) {
        sum.terms.push_back({{product.coefficient.value / c, true}, product.powers});
      }
      sum.terms[unit].coefficient = {1, false};
      other.sums = {std::move(sum)};
      other.products = {Product{{c, true}, no_powers(form.products[0].powers.size()), {{0, 1.0}}}};
      result.push_back(std::move(other));
    }
  }
  return result;
}

std::vector<Number*> numbers(Form& form) {
  std::vector<Number*> result;
  for (Product& product : form.products) result.push_back(&product.coefficient);
  for (InnerSum& sum : form.sums) {
    for (Term& term : sum.terms) result.push_back(&term.coefficient);
  }
  return result;
}

std::vector<double> free_values(const Form& form) {
  std::vector<double> values;
  Form copy = form;
  for (const Number* number : numbers(copy)) {
    if (number->free) values.push_back(number->value);
  }
  return values;
}

void set_free_values(Form& form, const std::vector<double>& values) {
  std::size_t next = 0;
  for (Number* number : numbers(form)) {
    if (number->free) number->value = values[next++];
  }
}

int free_count(const Form& form) { return static_cast<int>(free_values(form).size()); }

namespace {

// Builds expressions; slots are numbered as in numbers().
class Writer {
 public:
  Writer(const Form& form, const std::vector<std::string>& columns, const std::vector<bool>& negative, bool with_slots)
      : form_(form), columns_(columns), negative_(negative) {
    Form copy = form;
    int next = 0;
    for (const Number* number : numbers(copy)) {
      slots_.push_back(with_slots && number->free ? next : -1);
      next += number->free ? 1 : 0;
    }
  }

  Expression formula() {
    Expression sum = 0.0;
    for (std::size_t p = 0; p < form_.products.size(); ++p) sum += product(form_.products[p], p);
    return sum;
  }

 private:
  Expression number(const Number& n, std::size_t index) const {
    return slots_[index] >= 0 ? Expression::variable(slot_name(slots_[index])) : Expression(n.value);
  }

  std::size_t first_number_of(int sum) const {
    std::size_t index = form_.products.size();
    for (int s = 0; s < sum; ++s) index += form_.sums[static_cast<std::size_t>(s)].terms.size();
    return index;
  }

  Expression inner_sum(int index) const {
    const InnerSum& sum = form_.sums[static_cast<std::size_t>(index)];
    Expression result = 0.0;
    // A term that is added goes first: b - a rather than -a + b.
    std::vector<std::size_t> order;
    for (std::size_t t = 0; t < sum.terms.size(); ++t) order.push_back(t);
    std::stable_partition(order.begin(), order.end(),
                          [&](std::size_t t) { return sum.terms[t].coefficient.value > 0; });
    for (const std::size_t t : order) {
      Sides sides;
      add_columns(sum.terms[t].powers, sides);
      result += quotient(number(sum.terms[t].coefficient, first_number_of(index) + t), sides);
    }
    return result;
  }

  struct Sides {
    std::vector<Expression> above, below;
  };

  static Expression raised(const Expression& base, double power) {
    if (power == 0.5) return sqrt(base);
    return pow(base, power);
  }

  void add_columns(const PowerList& powers, Sides& sides) const {
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (powers[i] == 0) continue;
      const Expression column = Expression::variable(columns_[i]);
      // As the layers compute it: a power of the magnitude, and the sign if the rounded power is odd.
      const bool magnitude = negative_[i] && !is_whole(powers[i]);
      const Expression base = magnitude ? abs(column) : column;
      (powers[i] > 0 ? sides.above : sides.below).push_back(raised(base, std::fabs(powers[i])));
      if (magnitude && NruPower::counts_sign(powers[i])) sides.above.push_back(sign(column));
    }
  }

  static Expression quotient(const Expression& coefficient, const Sides& sides) {
    Expression above = coefficient;
    for (const Expression& factor : sides.above) above *= factor;
    if (sides.below.empty()) return above;
    Expression below = sides.below[0];
    for (std::size_t k = 1; k < sides.below.size(); ++k) below *= sides.below[k];
    return above / below;
  }

  Expression product(const Product& p, std::size_t index) const {
    Sides sides;
    add_columns(p.powers, sides);
    for (const auto& [sum, power] : p.sums) {
      (power > 0 ? sides.above : sides.below).push_back(raised(inner_sum(sum), std::fabs(power)));
    }
    return quotient(number(p.coefficient, index), sides);
  }

  const Form& form_;
  const std::vector<std::string>& columns_;
  const std::vector<bool>& negative_;
  std::vector<int> slots_;
};

// The layers of a network by hand.
class Layers {
 public:
  void add(const char* module, int inputs, int outputs, std::vector<double> parameters) {
    const ModuleInfo* info = *find_module(module);
    model_.layers.push_back({info, default_shape(*info, inputs, outputs), std::move(parameters)});
  }
  Model take() { return std::move(model_); }

 private:
  Model model_;
};

// Which output of the first layer is this product of columns; adds it if it is new.
int monomial_index(std::vector<PowerList>& list, const PowerList& powers) {
  const auto found = std::find(list.begin(), list.end(), powers);
  if (found != list.end()) return static_cast<int>(found - list.begin());
  list.push_back(powers);
  return static_cast<int>(list.size()) - 1;
}

// Parameters of an NRU-power layer with these outputs: [input][output].
std::vector<double> transposed(const std::vector<PowerList>& outputs, std::size_t inputs) {
  std::vector<double> W;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const PowerList& powers : outputs) W.push_back(powers[i]);
  }
  return W;
}

// The columns themselves, as monomials.
std::vector<PowerList> plain_columns(std::size_t columns) {
  std::vector<PowerList> list(columns, no_powers(columns));
  for (std::size_t i = 0; i < columns; ++i) list[i][i] = 1;
  return list;
}

}  // namespace

Expression to_expression(const Form& form, const std::vector<std::string>& columns, const std::vector<bool>& negative,
                         bool with_slots) {
  return Writer(form, columns, negative, with_slots).formula();
}

Model to_model(const Form& form, const std::vector<std::string>& columns) {
  const std::size_t inputs = columns.size();
  const int n = static_cast<int>(inputs);
  std::vector<Product> products;
  double offset = 0;
  for (const Product& p : form.products) {
    if (is_constant(p.powers) && p.sums.empty()) {
      offset += p.coefficient.value;
    } else {
      products.push_back(p);
    }
  }
  // Everything that the first sums are made of.
  std::vector<PowerList> monomials;
  if (form.sums.empty()) {
    for (const Product& p : products) monomial_index(monomials, p.powers);
  } else {
    for (const InnerSum& sum : form.sums) {
      for (const Term& term : sum.terms) {
        if (!is_constant(term.powers)) monomial_index(monomials, term.powers);
      }
    }
    for (const Product& p : products) {
      if (!is_constant(p.powers)) monomial_index(monomials, p.powers);
    }
  }
  const std::vector<PowerList> plain = plain_columns(inputs);
  const bool all_plain = std::all_of(monomials.begin(), monomials.end(), [&](const PowerList& m) {
    return std::find(plain.begin(), plain.end(), m) != plain.end();
  });
  if (all_plain) monomials = plain;
  const std::size_t K = monomials.size();

  Layers layers;
  if (!all_plain) layers.add("NRU-power", n, static_cast<int>(K), transposed(monomials, inputs));
  if (form.sums.empty()) {
    std::vector<double> W(K + 1, 0.0);
    for (const Product& p : products)
      W[static_cast<std::size_t>(monomial_index(monomials, p.powers))] += p.coefficient.value;
    W[K] = offset;
    layers.add("Linear", static_cast<int>(K), 1, W);
  } else {
    // Outputs of the middle sums: the inner sums, then one factor per product that has columns or a number of its own.
    struct Output {
      std::vector<double> weights;
      double constant = 0;
    };
    std::vector<Output> outputs;
    for (const InnerSum& sum : form.sums) {
      Output out{std::vector<double>(K, 0.0)};
      for (const Term& term : sum.terms) {
        if (is_constant(term.powers)) {
          out.constant += term.coefficient.value;
        } else {
          out.weights[static_cast<std::size_t>(monomial_index(monomials, term.powers))] += term.coefficient.value;
        }
      }
      outputs.push_back(std::move(out));
    }
    const bool last_sum = products.size() > 1 || offset != 0;
    std::vector<PowerList> factors;  // of each product, over the outputs
    std::vector<int> own(products.size(), -1);
    for (std::size_t p = 0; p < products.size(); ++p) {
      const double number = last_sum ? 1 : products[p].coefficient.value;
      if (is_constant(products[p].powers) && number == 1) continue;
      Output out{std::vector<double>(K, 0.0)};
      if (is_constant(products[p].powers)) {
        out.constant = number;
      } else {
        out.weights[static_cast<std::size_t>(monomial_index(monomials, products[p].powers))] = number;
      }
      own[p] = static_cast<int>(outputs.size());
      outputs.push_back(std::move(out));
    }
    for (std::size_t p = 0; p < products.size(); ++p) {
      PowerList powers(outputs.size(), 0.0);
      for (const auto& [sum, power] : products[p].sums) powers[static_cast<std::size_t>(sum)] = power;
      if (own[p] >= 0) powers[static_cast<std::size_t>(own[p])] = 1;
      factors.push_back(std::move(powers));
    }
    const std::size_t J = outputs.size();
    std::vector<double> W;
    for (std::size_t k = 0; k < K; ++k) {
      for (const Output& out : outputs) W.push_back(out.weights[k]);
    }
    for (const Output& out : outputs) W.push_back(out.constant);
    layers.add("Linear", static_cast<int>(K), static_cast<int>(J), W);
    layers.add("NRU-power", static_cast<int>(J), static_cast<int>(products.size()), transposed(factors, J));
    if (last_sum) {
      std::vector<double> last;
      for (const Product& p : products) last.push_back(p.coefficient.value);
      last.push_back(offset);
      layers.add("Linear", static_cast<int>(products.size()), 1, last);
    }
  }
  Model model = layers.take();
  model.columns = columns;
  return model;
}

int size_of(const Expression& expression) {
  int size = 0;
  formula::visit_operands_first(expression, [&](const Expression&) { ++size; });
  return size;
}

}  // namespace nalm::fitting
