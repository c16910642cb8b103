#include "fit/form_algebra.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

// Larger powers of earlier columns first, the constant last.
bool comes_before(const PowerList& a, const PowerList& b) {
  return std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end());
}

// Adds the numbers of neighbours that are equal but for these.
template <class Part, class Equal>
void merge_neighbours(std::vector<Part>& parts, Equal equal) {
  std::vector<Part> merged;
  for (Part& part : parts) {
    if (!merged.empty() && equal(merged.back(), part)) {
      merged.back().coefficient.value += part.coefficient.value;
    } else {
      merged.push_back(std::move(part));
    }
  }
  std::erase_if(merged, [](const Part& part) { return part.coefficient.value == 0; });
  parts = std::move(merged);
}

void merge_equal_terms(InnerSum& sum) {
  std::stable_sort(sum.terms.begin(), sum.terms.end(),
                   [](const Term& a, const Term& b) { return comes_before(a.powers, b.powers); });
  merge_neighbours(sum.terms, [](const Term& a, const Term& b) { return a.powers == b.powers; });
  std::erase_if(sum.terms, [](const Term& t) { return !std::isfinite(t.coefficient.value); });
}

// Takes a common monomial and a common number out of the sum, and multiplies every product that uses it accordingly.
void pull_out_common_factor(Form& form, std::size_t index, const std::vector<bool>& negative) {
  InnerSum& sum = form.sums[index];
  const bool whole_powers = has_whole_powers(form, index);
  PowerList common(negative.size(), 0.0);
  for (std::size_t i = 0; i < common.size(); ++i) {
    if (!whole_powers && negative[i]) continue;  // the root of x^2 is not x
    common[i] = sum.terms[0].powers[i];
    for (const Term& term : sum.terms) common[i] = std::min(common[i], term.powers[i]);
  }
  for (Term& term : sum.terms) add_powers(term.powers, common, -1);
  for (Product& product : form.products) {
    for (const auto& [s, power] : product.sums) {
      if (s == index) add_powers(product.powers, common, power);
    }
  }
  give_the_one(form, index, 0);
}

// A sum of one term is a factor like any other. False if a product has no value.
bool dissolve_single_terms(Form& form, const std::vector<bool>& negative) {
  // The root of x^2 is not x where x can be negative.
  const auto keeps = [&](const Term& term, double power) {
    for (std::size_t i = 0; i < negative.size() && !is_whole(power); ++i) {
      if (term.powers[i] != 0 && negative[i]) return true;
    }
    return false;
  };
  for (Product& product : form.products) {
    std::vector<std::pair<std::size_t, double>> kept;
    for (const auto& [s, power] : product.sums) {
      const std::vector<Term>& terms = form.sums[s].terms;
      if (terms.empty()) return false;
      if (terms.size() > 1 || keeps(terms[0], power)) {
        kept.push_back({s, power});
        continue;
      }
      product.coefficient.value *= portable::pow(terms[0].coefficient.value, power);
      add_powers(product.powers, terms[0].powers, power);
    }
    product.sums = std::move(kept);
    if (!std::isfinite(product.coefficient.value)) return false;
  }
  return true;
}

bool same_terms(const InnerSum& a, const InnerSum& b) {
  return std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), [](const Term& x, const Term& y) {
    const double difference = x.coefficient.value - y.coefficient.value;
    return x.powers == y.powers && !(std::fabs(difference) > 1e-9 * std::fabs(x.coefficient.value));
  });
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
  for (const auto& [s, power] : product.sums) text += fmt::format("({})^{};", key_of_sum(form.sums[s]), power);
  return text;
}

// Unused and equal sums go; the rest are put in order.
void tidy_sums(Form& form) {
  std::vector<bool> used(form.sums.size(), false);
  for (const Product& product : form.products) {
    for (const auto& [s, power] : product.sums) used[s] = true;
  }
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < form.sums.size(); ++s) {
    if (used[s]) order.push_back(s);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key_of_sum(form.sums[a]) < key_of_sum(form.sums[b]); });
  std::vector<InnerSum> kept;
  std::vector<std::size_t> renamed(form.sums.size());
  for (const std::size_t s : order) {
    const auto same = std::find_if(kept.rbegin(), kept.rend(),
                                   [&](const InnerSum& other) { return same_terms(other, form.sums[s]); });
    renamed[s] = same == kept.rend() ? kept.size() : static_cast<std::size_t>(kept.rend() - same) - 1;
    if (same == kept.rend()) kept.push_back(form.sums[s]);
  }
  for (Product& product : form.products) {
    std::vector<double> power_of(kept.size(), 0.0);
    for (const auto& [s, power] : product.sums) power_of[renamed[s]] += power;
    product.sums.clear();
    for (std::size_t k = 0; k < kept.size(); ++k) {
      if (power_of[k] != 0) product.sums.push_back({k, power_of[k]});
    }
  }
  form.sums = std::move(kept);
}

void merge_equal_products(Form& form) {
  std::stable_sort(form.products.begin(), form.products.end(), [&](const Product& a, const Product& b) {
    if (a.powers != b.powers) return comes_before(a.powers, b.powers);
    return key_of_product(form, a) > key_of_product(form, b);
  });
  merge_neighbours(form.products,
                   [](const Product& a, const Product& b) { return a.powers == b.powers && a.sums == b.sums; });
  // The constant stands last.
  std::stable_partition(form.products.begin(), form.products.end(),
                        [](const Product& p) { return !is_constant(p.powers) || !p.sums.empty(); });
}

// C*(a + b*c) with nothing else: a plain sum.
void expand_single_sum(Form& form) {
  if (form.products.size() != 1) return;
  const Product product = form.products[0];
  if (product.sums.size() != 1 || product.sums[0].second != 1 || !is_constant(product.powers)) return;
  const InnerSum sum = form.sums[product.sums[0].first];
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
  PowerList common(form.products[0].powers.size(), 0.0);
  for (std::size_t i = 0; i < common.size(); ++i) {
    double least = form.products[0].powers[i], most = least;
    for (const Product& product : form.products) {
      least = std::min(least, product.powers[i]), most = std::max(most, product.powers[i]);
    }
    common[i] = least > 0 ? least : most < 0 ? most : 0;
  }
  if (is_constant(common)) return false;
  InnerSum sum;
  for (const Product& product : form.products) {
    sum.terms.push_back({product.coefficient, product.powers});
    add_powers(sum.terms.back().powers, common, -1);
  }
  form.sums = {std::move(sum)};
  form.products = {Product{{1, true}, std::move(common), {{0, 1.0}}}};
  return true;
}

}  // namespace

bool has_whole_powers(const Form& form, std::size_t sum) {
  for (const Product& product : form.products) {
    for (const auto& [s, power] : product.sums) {
      if (s == sum && !is_whole(power)) return false;
    }
  }
  return true;
}

bool has_half_powers(const Form& form) {
  const auto half = [](double power) { return is_whole(2 * power); };
  const auto halves = [&](const auto& part) { return std::all_of(part.powers.begin(), part.powers.end(), half); };
  return std::all_of(form.products.begin(), form.products.end(),
                     [&](const Product& product) {
                       return halves(product) && std::all_of(product.sums.begin(), product.sums.end(),
                                                             [&](const auto& sum) { return half(sum.second); });
                     }) &&
         std::all_of(form.sums.begin(), form.sums.end(),
                     [&](const InnerSum& sum) { return std::all_of(sum.terms.begin(), sum.terms.end(), halves); });
}

void give_the_one(Form& form, std::size_t sum, std::size_t term) {
  const bool whole_powers = has_whole_powers(form, sum);
  const double value = form.sums[sum].terms[term].coefficient.value;
  const double factor = whole_powers ? value : std::fabs(value);
  for (Term& t : form.sums[sum].terms) t.coefficient = {t.coefficient.value / factor, true};
  form.sums[sum].terms[term].coefficient = {value < 0 && !whole_powers ? -1.0 : 1.0, false};
  for (Product& product : form.products) {
    for (const auto& [s, power] : product.sums) {
      if (s == sum) product.coefficient.value *= portable::pow(factor, power);
    }
  }
}

bool normalise(Form& form, const std::vector<bool>& negative) {
  for (int pass = 0; pass < 3; ++pass) {
    for (InnerSum& sum : form.sums) merge_equal_terms(sum);
    if (!dissolve_single_terms(form, negative)) return false;
    tidy_sums(form);
    for (std::size_t s = 0; s < form.sums.size(); ++s) {
      pull_out_common_factor(form, s, negative);
      merge_equal_terms(form.sums[s]);
      if (form.sums[s].terms.size() > 1) pull_out_common_factor(form, s, negative);
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
  for (const Atom& atom : form.atoms) text += fmt::format("; {}({})", atom.function, key_of_sum(atom.argument));
  return form.outer.empty() ? text : fmt::format("{}({})", form.outer, text);
}

std::optional<Form> expanded(const Form& form) {
  if (form.sums.empty()) return std::nullopt;
  Form result{{}, {}, form.atoms, form.outer};
  for (const Product& product : form.products) {
    std::vector<Product> terms = {{product.coefficient, product.powers, {}}};
    for (const auto& [s, power] : product.sums) {
      if (!is_whole(power) || power < 1 || power > 3) return std::nullopt;
      for (int k = 0; k < static_cast<int>(power); ++k) {
        std::vector<Product> next;
        for (const Product& a : terms) {
          for (const Term& b : form.sums[s].terms) {
            Product c = a;
            c.coefficient.value *= b.coefficient.value;
            add_powers(c.powers, b.powers, 1);
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

}  // namespace nalm::fitting
