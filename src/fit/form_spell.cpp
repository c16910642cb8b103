#include "fit/form_spell.hpp"

#include <cmath>
#include <optional>

#include "fit/form_algebra.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

PowerList halved(PowerList powers) {
  for (double& power : powers) power /= 2;
  return powers;
}

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
        const double sign = (p[k].coefficient.value > 0) == (a > 0) ? 1 : -1;
        Form result = form;
        result.products = {{{a, true}, PowerList(p[i].powers.size(), 0.0), {{form.sums.size(), 2.0}}}};
        result.sums.push_back(
            {{{{1, false}, halved(p[i].powers)}, {{sign * std::sqrt(b / a), true}, halved(p[j].powers)}}});
        for (std::size_t m = 0; m < p.size(); ++m) {
          if (m != i && m != j && m != k) result.products.push_back(p[m]);
        }
        return result;
      }
    }
  }
  return std::nullopt;
}

// Another term of this sum gets the coefficient 1.
void add_other_ones(std::vector<Form>& result, std::size_t sum) {
  const std::vector<Form> before = result;
  for (const Form& base : before) {
    for (std::size_t term = 1; term < base.sums[sum].terms.size() && result.size() < 24; ++term) {
      result.push_back(base);
      give_the_one(result.back(), sum, term);
    }
  }
}

// The factor in front of the only product moves into one of its sums.
void add_moved_factors(std::vector<Form>& result) {
  const std::vector<Form> before = result;
  for (const Form& base : before) {
    for (std::size_t k = 0; k < base.products[0].sums.size() && result.size() < 48; ++k) {
      const auto [sum, power] = base.products[0].sums[k];
      const double c = base.products[0].coefficient.value;
      if (!is_whole(power) && c < 0) continue;
      const double factor = portable::pow(std::fabs(c), 1 / power) * (c < 0 && is_whole(power) ? -1 : 1);
      if (portable::pow(factor, power) * c < 0) continue;
      Form other = base;
      for (Term& term : other.sums[sum].terms) term.coefficient = {term.coefficient.value * factor, true};
      other.products[0].coefficient = {1, false};
      result.push_back(std::move(other));
    }
  }
}

// A plain sum as a factor times a sum in which this term has the coefficient 1.
Form with_factor_in_front(const Form& form, std::size_t term) {
  InnerSum sum;
  const double c = form.products[term].coefficient.value;
  for (const Product& product : form.products) {
    sum.terms.push_back({{product.coefficient.value / c, true}, product.powers});
  }
  sum.terms[term].coefficient = {1, false};
  Form result = form;
  result.sums = {std::move(sum)};
  result.products = {{{c, true}, PowerList(form.products[0].powers.size(), 0.0), {{0, 1.0}}}};
  return result;
}

}  // namespace

std::vector<Form> spellings(const Form& form) {
  std::vector<Form> result{form};
  for (std::optional<Form> square = with_a_square(form); square; square = with_a_square(*square)) {
    result.push_back(*square);
  }
  for (std::size_t s = 0; s < form.sums.size(); ++s) add_other_ones(result, s);
  if (form.products.size() == 1) add_moved_factors(result);
  if (form.sums.empty() && form.products.size() > 1) {
    for (std::size_t term = 0; term < form.products.size(); ++term) {
      result.push_back(with_factor_in_front(form, term));
    }
  }
  return result;
}

}  // namespace nalm::fitting
