// A formula is read as sums of products of powers, whose bases are variables, other functions, or such sums again;
// changed there; and written.
#include "formula/spell.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "formula/node.hpp"

namespace nalm {

namespace {

using Kind = Expression::Kind;

struct SpelledProduct;
using SpelledSum = std::vector<SpelledProduct>;

// A power of `atom`, or of `sum` if that has terms.
struct SpelledFactor {
  Expression atom;
  SpelledSum sum;
  double power = 1;
};

struct SpelledProduct {
  double above = 1, below = 1;  // the numbers of a fraction, as they were written
  std::vector<SpelledFactor> factors;
};

bool is_whole_power(double power) { return power == std::round(power); }
bool has_root(double power) { return !is_whole_power(power) && is_whole_power(2 * power); }
bool is_sum(const SpelledFactor& factor) { return !factor.sum.empty(); }
bool is_plus(const SpelledProduct& product) { return product.above * product.below > 0; }

// ---- writing -------------------------------------------------------------------------------------------------------

class Speller {
 public:
  explicit Speller(const std::set<std::string>& positive) : positive_(positive) {}

  std::optional<Expression> spell(SpelledSum sum) {
    if (SpelledProduct outer; sum.size() > 1 && take_common(sum, 1, outer)) {
      outer.factors.push_back({{}, std::move(sum), 1});
      sum = {std::move(outer)};
    }
    improve(sum);
    const Expression written = write(sum);
    return changed_ ? std::optional(written) : std::nullopt;
  }

 private:
  bool is_positive(const Expression& atom) const {
    return atom.kind() == Kind::Variable && positive_.contains(atom.name());
  }

  // Nowhere negative, if the variables are what they are said to be.
  bool is_never_negative(const SpelledFactor& base) const {
    if (!is_sum(base)) {
      const bool number = base.atom.kind() == Kind::Constant && base.atom.constant() >= 0;
      return number || is_positive(base.atom) || (base.atom.kind() == Kind::Call && base.atom.name() == "abs");
    }
    return std::all_of(base.sum.begin(), base.sum.end(), [&](const SpelledProduct& term) {
      return is_plus(term) && std::all_of(term.factors.begin(), term.factors.end(), [&](const SpelledFactor& factor) {
               return has_root(factor.power) || is_whole_power(factor.power / 2) || is_never_negative(factor);
             });
    });
  }

  Expression base_of(const SpelledFactor& factor) { return is_sum(factor) ? write(factor.sum) : factor.atom; }

  std::string key_of(const SpelledFactor& factor) { return print(base_of(factor)); }

  static Expression product_of(const std::vector<Expression>& factors, Expression first) {
    for (const Expression& factor : factors) first *= factor;
    return first;
  }

  Expression write(const SpelledProduct& product) {
    std::vector<Expression> above, below, root_above, root_below;
    std::vector<const SpelledFactor*> roots, others;
    // With two bases of unknown signs the product could be positive where no factor has a root.
    bool unknown = false;
    for (const SpelledFactor& factor : product.factors) {
      const bool is_root =
          std::fabs(factor.power) == 0.5 && (is_never_negative(factor) || !std::exchange(unknown, true));
      (is_root ? roots : others).push_back(&factor);
    }
    if (roots.size() < 2) {
      others.clear();
      for (const SpelledFactor& factor : product.factors) others.push_back(&factor);
      roots.clear();
    }
    for (const SpelledFactor* factor : others) {
      const double size = std::fabs(factor->power);
      const Expression base = base_of(*factor);
      (factor->power > 0 ? above : below).push_back(size == 0.5 ? sqrt(base) : pow(base, size));
    }
    for (const SpelledFactor* factor : roots) (factor->power > 0 ? root_above : root_below).push_back(base_of(*factor));
    if (!roots.empty()) {
      changed_ = true;
      if (root_above.empty())
        below.push_back(sqrt(product_of(root_below, 1.0)));
      else
        above.push_back(sqrt(root_below.empty() ? product_of(root_above, 1.0)
                                                : product_of(root_above, 1.0) / product_of(root_below, 1.0)));
    }
    const Expression numerator = product_of(above, product.above);
    if (below.empty() && product.below == 1) return numerator;
    return numerator / product_of(below, product.below);
  }

  // A term that is added goes first: b - a rather than -a + b.
  Expression write(const SpelledSum& sum) {
    std::vector<const SpelledProduct*> order;
    for (const SpelledProduct& term : sum) order.push_back(&term);
    std::stable_partition(order.begin(), order.end(), [](const SpelledProduct* term) { return is_plus(*term); });
    Expression result = 0.0;
    for (const SpelledProduct* term : order) result += write(*term);
    return result;
  }

  // ---- changing ----------------------------------------------------------------------------------------------------

  void improve(SpelledSum& sum) {
    while (complete_square(sum)) changed_ = true;
    for (SpelledProduct& product : sum) {
      for (std::size_t k = 0; k < product.factors.size(); ++k) {
        if (!is_sum(product.factors[k])) continue;
        SpelledProduct common;
        take_common(product.factors[k].sum, product.factors[k].power, common);
        improve(product.factors[k].sum);
        product.above *= common.above;
        product.below *= common.below;
        product.factors.insert(product.factors.begin() + static_cast<std::ptrdiff_t>(k), common.factors.begin(),
                               common.factors.end());
        k += common.factors.size();
      }
      turn_signs(product);
      divide_sums(product);
      SpelledProduct opened = product;
      open_roots(opened);
      bool shorter = false;
      for (std::size_t k = 0; k < opened.factors.size(); ++k)
        if (is_sum(opened.factors[k]) && has_root(opened.factors[k].power)) shorter |= take_out_of_root(opened, k);
      if (shorter) product = std::move(opened);
    }
  }

  // A sum that only subtracts adds, and a minus before a product goes into one of its differences, if that makes no
  // more signs: (a - b)/(c + d) for (b - a)/(-c - d).
  void turn_signs(SpelledProduct& product) {
    for (SpelledFactor& factor : product.factors) {
      if (!is_sum(factor) || !is_whole_power(factor.power) || is_whole_power(factor.power / 2)) continue;
      const auto plus = std::count_if(factor.sum.begin(), factor.sum.end(), is_plus);
      const auto minus = static_cast<std::ptrdiff_t>(factor.sum.size()) - plus;
      if (plus > 0 && (is_plus(product) || minus == 0 || plus > 1 + minus)) continue;
      for (SpelledProduct& term : factor.sum) term.above = -term.above;
      product.above = -product.above;
      changed_ = true;
    }
  }

  // Factors that all terms of a sum have to the same power, and a number that all have, go out of it: into a product
  // with this power of the sum.
  bool take_common(SpelledSum& sum, double power, SpelledProduct& outer) {
    if (sum.size() < 2) return false;
    bool taken = false;
    for (std::size_t k = 0; k < sum[0].factors.size();) {
      const SpelledFactor factor = sum[0].factors[k];
      const std::string key = key_of(factor);
      const auto place = [&](SpelledProduct& term) {
        return std::find_if(term.factors.begin(), term.factors.end(), [&](const SpelledFactor& other) {
          return other.power == factor.power && key_of(other) == key;
        });
      };
      // The square of a root has values where the root has none.
      const bool allowed = is_positive(factor.atom) ||
                           (is_whole_power(power) && (is_whole_power(factor.power) || std::fabs(power) == 1));
      if (!allowed ||
          std::any_of(sum.begin(), sum.end(), [&](SpelledProduct& t) { return place(t) == t.factors.end(); })) {
        ++k;
        continue;
      }
      for (SpelledProduct& term : sum) term.factors.erase(place(term));
      outer.factors.push_back(factor);
      outer.factors.back().power *= power;
      taken = true;
    }
    const double above = std::fabs(sum[0].above), below = std::fabs(sum[0].below);
    const bool one_number = std::all_of(sum.begin(), sum.end(), [&](const SpelledProduct& term) {
      return std::fabs(term.above) == above && std::fabs(term.below) == below && !term.factors.empty();
    });
    if (power == 1 && one_number && (above != 1 || below != 1)) {
      const double sign = std::any_of(sum.begin(), sum.end(), is_plus) ? 1 : -1;
      for (SpelledProduct& term : sum) term.above = is_plus(term) ? sign : -sign, term.below = 1;
      outer.above *= sign * above;
      outer.below *= below;
      taken = true;
    }
    changed_ = changed_ || taken;
    return taken;
  }

  // A term as the square of what is given back, its number aside.
  static std::optional<SpelledProduct> root_of(const SpelledProduct& term) {
    SpelledProduct root{1, 1, term.factors};
    for (SpelledFactor& factor : root.factors) {
      factor.power /= 2;
      if (!is_whole_power(factor.power)) return std::nullopt;
    }
    return root;
  }

  // Whether a term has these factors, in any order.
  bool has_factors(const SpelledProduct& term, std::vector<SpelledFactor> factors) {
    if (term.factors.size() != factors.size()) return false;
    for (const SpelledFactor& own : term.factors) {
      const std::string key = key_of(own);
      const auto same = std::find_if(factors.begin(), factors.end(), [&](const SpelledFactor& factor) {
        return factor.power == own.power && key_of(factor) == key;
      });
      if (same == factors.end()) return false;
      factors.erase(same);
    }
    return true;
  }

  // The first three terms c*a^2 + c*b^2 +- 2*c*a*b become c*(a +- b)^2.
  bool complete_square(SpelledSum& sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      for (std::size_t j = i + 1; j < sum.size(); ++j) {
        const std::optional<SpelledProduct> a = root_of(sum[i]), b = root_of(sum[j]);
        if (!a || !b || sum[i].above != sum[j].above || sum[i].below != sum[j].below) continue;
        std::vector<SpelledFactor> both = a->factors;
        both.insert(both.end(), b->factors.begin(), b->factors.end());
        for (std::size_t k = 0; k < sum.size(); ++k) {
          if (k == i || k == j || sum[k].below != sum[i].below) continue;
          if (std::fabs(sum[k].above) != 2 * std::fabs(sum[i].above) || !has_factors(sum[k], both)) continue;
          SpelledSum root{*a, *b};
          if (is_plus(sum[k]) != is_plus(sum[i])) root[1].above = -1;
          SpelledProduct square{sum[i].above, sum[i].below, {{{}, std::move(root), 2}}};
          sum[i] = std::move(square);
          sum.erase(sum.begin() + static_cast<std::ptrdiff_t>(std::max(j, k)));
          sum.erase(sum.begin() + static_cast<std::ptrdiff_t>(std::min(j, k)));
          return true;
        }
      }
    }
    return false;
  }

  static double power_of(const SpelledProduct& product, const std::string& variable) {
    for (const SpelledFactor& factor : product.factors)
      if (!is_sum(factor) && factor.atom.kind() == Kind::Variable && factor.atom.name() == variable)
        return factor.power;
    return 0;
  }

  static void set_power(SpelledProduct& product, const std::string& variable, double power) {
    const auto at = std::find_if(product.factors.begin(), product.factors.end(), [&](const SpelledFactor& factor) {
      return !is_sum(factor) && factor.atom.kind() == Kind::Variable && factor.atom.name() == variable;
    });
    if (at == product.factors.end())
      product.factors.push_back({Expression::variable(variable), {}, power});
    else if (power == 0)
      product.factors.erase(at);
    else
      at->power = power;
  }

  // A difference of plain products, each variable at most once in each.
  static bool is_difference(const SpelledFactor& factor) {
    bool plus = false, minus = false, plain = true;
    for (const SpelledProduct& term : factor.sum) {
      (is_plus(term) ? plus : minus) = true;
      plain = plain && std::none_of(term.factors.begin(), term.factors.end(), is_sum);
    }
    return plus && minus && plain;
  }

  // Differences under a root, and beside them, are divided by a power of a variable where that makes the formula
  // shorter outside of them: c*m/sqrt(c^2 - v^2).
  void divide_sums(SpelledProduct& product) {
    std::vector<std::string> variables;
    for (const SpelledFactor& factor : product.factors)
      if (!is_sum(factor) && is_positive(factor.atom) && is_whole_power(factor.power))
        variables.push_back(factor.atom.name());
    for (const std::string& variable : variables) divide_sums(product, variable);
  }

  void divide_sums(SpelledProduct& product, const std::string& variable) {
    std::vector<std::size_t> sums;
    for (std::size_t k = 0; k < product.factors.size(); ++k)
      if (is_difference(product.factors[k]) && is_whole_power(2 * product.factors[k].power)) sums.push_back(k);
    if (sums.size() > 3) return;  // ways multiply
    struct Way {
      std::size_t places = 0;  // where the variable stands
      double outside = 0;      // its power there
      std::vector<double> divisors;
      bool divides_root = false;
    };
    std::vector<Way> ways{{0, power_of(product, variable), {}, false}};
    for (const std::size_t k : sums) {
      const SpelledFactor& factor = product.factors[k];
      std::vector<double> divisors{0};
      for (const SpelledProduct& term : factor.sum) {
        const double power = power_of(term, variable);
        const bool known = std::find(divisors.begin(), divisors.end(), power) != divisors.end();
        if (!known && is_whole_power(power * factor.power)) divisors.push_back(power);
      }
      std::vector<Way> longer;
      for (const Way& way : ways) {
        for (const double divisor : divisors) {
          longer.push_back(way);
          Way& next = longer.back();
          next.divisors.push_back(divisor);
          next.outside += divisor * factor.power;
          next.divides_root = next.divides_root || (divisor != 0 && has_root(factor.power));
          for (const SpelledProduct& term : factor.sum) next.places += power_of(term, variable) != divisor;
        }
      }
      ways = std::move(longer);
    }
    const auto cost = [](const Way& way) {
      return std::pair(way.places + (way.outside != 0 ? 1 : 0), std::fabs(way.outside));
    };
    const Way* best = &ways.front();  // as it is
    for (const Way& way : ways)
      if (way.divides_root && cost(way) < cost(*best)) best = &way;
    if (best == &ways.front()) return;
    SpelledProduct divided = product;
    for (std::size_t s = 0; s < sums.size(); ++s) {
      if (best->divisors[s] == 0) continue;
      SpelledSum& sum = divided.factors[sums[s]].sum;
      for (SpelledProduct& term : sum) set_power(term, variable, power_of(term, variable) - best->divisors[s]);
      numbers_first(sum);
    }
    // Last, because it may move the sums.
    set_power(divided, variable, best->outside);
    if (has_one_minus(product) && !is_better(divided, product)) return;
    product = std::move(divided);
    changed_ = true;
  }

  static void numbers_first(SpelledSum& sum) {
    std::stable_partition(sum.begin(), sum.end(), [](const SpelledProduct& term) { return term.factors.empty(); });
  }

  static bool has_one_minus(const SpelledProduct& product) {
    return std::any_of(product.factors.begin(), product.factors.end(), [](const SpelledFactor& factor) {
      return has_root(factor.power) && is_difference(factor) && factor.sum[0].factors.empty() &&
             factor.sum[0].above == 1 && factor.sum[0].below == 1;
    });
  }

  // Numbers, variables and operations as people count them: a sign is part of what it stands before.
  static std::size_t size_of(const SpelledSum& sum) {
    std::size_t size = sum.size() - 1;
    for (const SpelledProduct& term : sum) size += size_of(term);
    return size;
  }
  static std::size_t size_of(const SpelledProduct& product) {
    std::size_t size = 0, parts = 0;
    bool root = false, above = false;
    for (const SpelledFactor& factor : product.factors) {
      ++parts;
      above = above || factor.power > 0;
      if (is_sum(factor)) {
        size += size_of(factor.sum);
      } else {
        formula::visit_operands_first(factor.atom, [&](const Expression&) { ++size; });
      }
      if (std::fabs(factor.power) == 0.5) {
        root = true;  // one for all
      } else if (std::fabs(factor.power) != 1) {
        size += 2;
      }
    }
    const bool number_above = std::fabs(product.above) != 1, number_below = std::fabs(product.below) != 1;
    parts += (number_above ? 1 : 0) + (number_below ? 1 : 0);
    size += (number_above ? 1 : 0) + (number_below ? 1 : 0) + (root ? 1 : 0);
    if (!above && !number_above) ++size, ++parts;  // 1/...
    return size + parts - 1;
  }

  // Shorter; or as short, and with a root of 1 minus something.
  static bool is_better(const SpelledProduct& changed, const SpelledProduct& product) {
    const std::size_t now = size_of(changed), then = size_of(product);
    return now < then || (now == then && has_one_minus(changed) && !has_one_minus(product));
  }

  static bool repeats_a_variable(const SpelledProduct& product) {
    std::set<std::string> seen;
    return std::any_of(product.factors.begin(), product.factors.end(), [&](const SpelledFactor& factor) {
      return !is_sum(factor) && factor.atom.kind() == Kind::Variable && !seen.insert(factor.atom.name()).second;
    });
  }

  // A root of a product of what is nowhere negative, and of one thing more, is the product of their roots.
  void open_roots(SpelledProduct& product) {
    for (std::size_t k = 0; k < product.factors.size(); ++k) {
      const SpelledFactor root = product.factors[k];
      if (root.sum.size() != 1 || !has_root(root.power) || root.sum[0].above != 1 || root.sum[0].below != 1) continue;
      const std::vector<SpelledFactor>& factors = root.sum[0].factors;
      const auto unknown = std::count_if(factors.begin(), factors.end(),
                                         [&](const SpelledFactor& factor) { return !is_never_negative(factor); });
      const bool simple = std::all_of(factors.begin(), factors.end(),
                                      [](const SpelledFactor& factor) { return std::fabs(factor.power) == 1; });
      if (unknown > 1 || !simple) continue;
      product.factors.erase(product.factors.begin() + static_cast<std::ptrdiff_t>(k));
      for (SpelledFactor factor : factors) {
        factor.power *= root.power;
        product.factors.push_back(std::move(factor));
      }
    }
  }

  // What some terms of a sum under a root have in common goes out of it, where that makes the whole shorter:
  // sqrt(a^2*m + u)/(a*sqrt(m)) is sqrt(1 + u/(a^2*m)).
  bool take_out_of_root(SpelledProduct& product, std::size_t place) {
    constexpr std::size_t most_terms = 6;
    const SpelledSum& sum = product.factors[place].sum;
    const bool plain = std::none_of(sum.begin(), sum.end(), [](const SpelledProduct& term) {
      return std::any_of(term.factors.begin(), term.factors.end(), is_sum) || repeats_a_variable(term);
    });
    if (!plain || repeats_a_variable(product) || sum.size() < 2 || sum.size() > most_terms) return false;
    std::optional<SpelledProduct> best;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      for (std::size_t j = i; j < sum.size(); ++j) {
        std::optional<SpelledProduct> changed = with_common_part_outside(product, place, sum[i], sum[j]);
        if (changed && is_better(*changed, best ? *best : product)) best = std::move(changed);
      }
    }
    if (!best) return false;
    product = std::move(*best);
    return changed_ = true;
  }

  // Divides the sum by what these two of its terms have in common.
  std::optional<SpelledProduct> with_common_part_outside(const SpelledProduct& product, std::size_t place,
                                                         const SpelledProduct& a, const SpelledProduct& b) const {
    SpelledProduct result = product;
    SpelledSum& sum = result.factors[place].sum;
    const double power = result.factors[place].power;
    bool any = false;
    std::vector<std::pair<std::string, double>> outside;
    for (const SpelledFactor& factor : a.factors) {
      if (!is_positive(factor.atom) || power_of(b, factor.atom.name()) != factor.power) continue;
      const std::string& name = factor.atom.name();
      for (SpelledProduct& term : sum) set_power(term, name, power_of(term, name) - factor.power);
      outside.emplace_back(name, power_of(product, name) + factor.power * power);
      any = true;
    }
    if (!any) return std::nullopt;
    // A number that both have, where the others have none.
    const double number = std::fabs(a.above);
    const bool same = number != 1 && std::fabs(b.above) == number && a.below == 1 && b.below == 1;
    const bool divides = same && std::all_of(sum.begin(), sum.end(), [&](const SpelledProduct& term) {
                           return std::fabs(term.above) == number ? term.below == 1 : std::fabs(term.above) == 1;
                         });
    if (divides) {
      for (SpelledProduct& term : sum) {
        if (std::fabs(term.above) == number) {
          term.above /= number;
        } else {
          term.below *= number;
        }
      }
    }
    numbers_first(sum);
    if (divides) result.factors.push_back({Expression(number), {}, power});
    for (const auto& [name, new_power] : outside) set_power(result, name, new_power);
    return result;
  }

  const std::set<std::string>& positive_;
  bool changed_ = false;
};

// ---- reading -------------------------------------------------------------------------------------------------------

SpelledProduct as_product(SpelledSum sum) {
  if (sum.size() == 1) return std::move(sum[0]);
  return {1, 1, {{{}, std::move(sum), 1}}};
}

SpelledSum power_of_sum(SpelledSum base, double power) {
  const bool is_one_factor = base.size() == 1 && base[0].above == 1 && base[0].below == 1 &&
                             base[0].factors.size() == 1 && base[0].factors[0].power == 1;
  if (is_one_factor) {
    base[0].factors[0].power = power;
    return base;
  }
  return {{1, 1, {{{}, std::move(base), power}}}};
}

SpelledSum read_node(const Expression& e, std::vector<SpelledSum> x) {
  const auto atom = [&] { return SpelledSum{{1, 1, {{e, {}, 1}}}}; };
  switch (e.kind()) {
    case Kind::Constant:
      return {{e.constant(), 1, {}}};
    case Kind::Negate:
    case Kind::Add:
    case Kind::Subtract:
      if (e.kind() != Kind::Add)
        for (SpelledProduct& term : x.back()) term.above = -term.above;
      if (e.kind() != Kind::Negate) x[0].insert(x[0].end(), x[1].begin(), x[1].end());
      return std::move(x[0]);
    case Kind::Multiply:
    case Kind::Divide: {
      SpelledProduct a = as_product(std::move(x[0])), b = as_product(std::move(x[1]));
      if (e.kind() == Kind::Divide) {
        std::swap(b.above, b.below);
        for (SpelledFactor& factor : b.factors) factor.power = -factor.power;
      }
      a.above *= b.above;
      a.below *= b.below;
      a.factors.insert(a.factors.end(), b.factors.begin(), b.factors.end());
      return {std::move(a)};
    }
    case Kind::Power:
      if (e.operands()[1].kind() != Kind::Constant) return atom();
      return power_of_sum(std::move(x[0]), e.operands()[1].constant());
    case Kind::Call:
      return e.name() == "sqrt" ? power_of_sum(std::move(x[0]), 0.5) : atom();
    default:
      return atom();
  }
}

constexpr std::size_t most_read = 500;  // operations, variables and numbers: nobody reads more

std::size_t size_of(const Expression& formula) {
  std::size_t size = 0;
  formula::visit_operands_first(formula, [&](const Expression&) { ++size; });
  return size;
}

// Twice a product that begins with one half; nothing if it does not.
std::optional<Expression> twice(const Expression& product) {
  if (product.kind() == Kind::Constant && std::fabs(product.constant()) == 0.5) return 2 * product.constant();
  const bool starts = product.kind() == Kind::Multiply || product.kind() == Kind::Divide;
  if (!starts && product.kind() != Kind::Negate) return std::nullopt;
  const std::optional<Expression> first = twice(product.operands()[0]);
  if (!first) return std::nullopt;
  if (product.kind() == Kind::Negate) return -*first;
  return product.kind() == Kind::Multiply ? *first * product.operands()[1] : *first / product.operands()[1];
}

Expression two_times(const Expression& product) {
  if (product.kind() != Kind::Multiply) return 2.0 * product;
  return two_times(product.operands()[0]) * product.operands()[1];
}

// Nothing if there is nothing to change.
std::optional<Expression> spelled_once(const Expression& formula, const std::set<std::string>& positive) {
  std::vector<SpelledSum> stack;
  std::size_t size = 0;
  formula::visit_operands_first(formula, [&](const Expression& e) {
    if (++size > most_read) return;
    const auto first = stack.end() - static_cast<std::ptrdiff_t>(e.operands().size());
    std::vector<SpelledSum> operands(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
    stack.erase(first, stack.end());
    stack.push_back(read_node(e, std::move(operands)));
  });
  if (size > most_read) return std::nullopt;
  return Speller(positive).spell(std::move(stack.back()));
}

Expression spelled_outside(const Expression& formula, const std::set<std::string>& positive) {
  constexpr int most_rounds = 10;  // what one change makes possible, the next round finds
  Expression result = formula;
  for (int round = 0; round < most_rounds; ++round) {
    const std::optional<Expression> next = spelled_once(result, positive);
    if (!next || print(*next) == print(result)) break;
    result = *next;
  }
  return result;
}

// theta/2, not 0.5*theta, is what a function is applied to.
Expression argument_spelled(const Expression& argument, const std::set<std::string>& positive) {
  const Expression plain = spelled_outside(argument, positive);
  const std::optional<Expression> whole = twice(plain);
  if (!whole) return plain;
  if (whole->kind() == Kind::Divide) return whole->operands()[0] / two_times(whole->operands()[1]);
  return *whole / 2.0;
}

}  // namespace

Expression spelled(const Expression& formula, const std::set<std::string>& positive) {
  if (size_of(formula) > most_read) return formula;
  const Expression with_arguments = formula::rebuilt(formula, [&](const Expression& e, std::vector<Expression> x) {
    if (e.kind() == Kind::Call && e.name() != "sqrt" && x.size() == 1) x[0] = argument_spelled(x[0], positive);
    return formula::with_operands(e, std::move(x));
  });
  return spelled_outside(with_arguments, positive);
}

}  // namespace nalm
