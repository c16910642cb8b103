// The formula is the model: what is printed, read back and evaluated, is what the layers compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "fit/cases.hpp"
#include "fit/form_algebra.hpp"
#include "fit/form_layers.hpp"
#include "formula/node.hpp"
#include "nalm/detail/portable.hpp"
#include "nalm/model.hpp"
#include "nalm/modules/functions.hpp"
#include "sanitized.hpp"

namespace nalm::fitting::formula_is_model_test {
namespace {

using Values = std::vector<double>;

constexpr std::uint64_t seed = 31;
constexpr int forms = test::sanitized ? 2000 : 30000;
constexpr int points = 3;

const std::vector<std::string> odd_names = {
    "a",    "x1",     "pi",   "sqrt", "inf",   "nan", "abs", "e",     "1e5",  "-x",   "mass of it",
    "a\"b", "\"",     "a\\b", "a*b",  "a + b", "",    " ",   "größe", "x\ty", "x\ny", "(",
    "min",  "sin(x)", "2",    "0x10", "a^2",   "'",   "a.b", "_",     "log",  "E",    "sigmoid",
};

// A table's columns, and a formula of them.
struct Case {
  std::vector<std::string> columns;
  std::vector<bool> negative;
  Form form;
  bool normal = false;
};

double random_number(Xoshiro& random) {
  const double sign = random.unit() < 0.4 ? -1 : 1;
  const auto whole = [&](std::uint64_t most) { return static_cast<double>(1 + random.below(most)); };
  switch (random.below(6)) {
    case 0:
      return sign;
    case 1:
      return sign * whole(20);
    case 2:
      return sign * whole(20) / whole(12);
    case 3:
      return sign * whole(8) * std::numbers::pi / whole(6);
    case 4:
      return sign * std::round(random.between(1, 1000)) / 100;
    default:
      return sign * std::exp(random.between(-7, 7));
  }
}

double random_power(Xoshiro& random) {
  constexpr double choices[] = {1, 1, 1, -1, -1, 2, -2, 3, -3, 4, 0.5, -0.5, 1.5, -1.5, 2.5, -3.5};
  const std::uint64_t k = random.below(18);
  return k < 16 ? choices[k] : std::round(random.between(-3, 3) * 1e4) / 1e4;
}

PowerList random_powers(Xoshiro& random, std::size_t columns) {
  PowerList powers(columns, 0.0);
  for (double& power : powers) {
    if (random.unit() < 0.4) power = random_power(random);
  }
  return powers;
}

Form random_form(Xoshiro& random, std::size_t columns) {
  Form form;
  form.sums.resize(random.below(4));
  for (InnerSum& sum : form.sums) {
    sum.terms.resize(1 + random.below(3));
    for (Term& t : sum.terms) t = test::term(random_number(random), random_powers(random, columns));
  }
  form.products.resize(1 + random.below(3));
  for (Product& p : form.products) {
    p = test::product(random_number(random), random_powers(random, columns));
    for (std::size_t s = 0; s < form.sums.size(); ++s) {
      if (random.unit() < 0.5) p.sums.push_back({s, random_power(random)});
    }
  }
  return form;
}

Case random_case(Xoshiro& random) {
  Case c;
  for (std::uint64_t k = 0, count = 1 + random.below(4); k < count; ++k) {
    const std::string& name = odd_names[random.below(odd_names.size())];
    if (std::find(c.columns.begin(), c.columns.end(), name) != c.columns.end()) continue;
    c.columns.push_back(name);
    c.negative.push_back(random.unit() < 0.4);
  }
  for (bool varies = false; !varies;) {
    c.form = random_form(random, c.columns.size());
    Form normal = c.form;
    varies = normalise(normal, c.negative);
    c.normal = varies && random.unit() < 0.5;
    if (c.normal) c.form = normal;
  }
  return c;
}

Values random_point(const Case& c, Xoshiro& random) {
  Values x;
  // Tables have whole numbers in them too.
  const bool whole = random.unit() < 0.3;
  for (const bool negative : c.negative) {
    const double size = whole ? static_cast<double>(1 + random.below(5)) : std::exp(random.between(-2, 2));
    x.push_back(negative && random.unit() < 0.5 ? -size : size);
  }
  return x;
}

TEST(FormulaIsModel, PrintedAndReadBack) {
  Xoshiro random(seed);
  int compared = 0;
  for (int k = 0; k < forms; ++k) {
    const Case c = random_case(random);
    const std::string text = print(to_expression(c.form, c.columns, c.negative));
    const auto where = [&] { return fmt::format("seed {}, form {}: {}", seed, k, text); };
    const Result<Expression> formula = parse_expression(text);
    ASSERT_TRUE(formula.ok()) << where() << ": " << formula.error().message;
    Values rows;
    for (int p = 0; p < points; ++p) {
      const Values x = random_point(c, random);
      rows.insert(rows.end(), x.begin(), x.end());
    }
    const Result<Values> predicted = predict(to_model(c.form, c.columns), rows, Precision::Double);
    ASSERT_TRUE(predicted.ok()) << where() << ": " << predicted.error().message;
    for (std::size_t p = 0; p < points; ++p) {
      const std::span<const double> x(rows.data() + p * c.columns.size(), c.columns.size());
      const Result<ScaledValue> value = evaluate_with_scale(*formula, c.columns, x);
      ASSERT_TRUE(value.ok()) << where() << ": " << value.error().message;
      if (!std::isfinite(value->value)) continue;
      ++compared;
      ASSERT_LE(std::fabs((*predicted)[p] - value->value), 1e-12 * value->scale)
          << where() << " is " << value->value << ", the model says " << (*predicted)[p] << " at "
          << fmt::format("{}", fmt::join(x, ", "));
    }
  }
  EXPECT_GE(2 * compared, forms * points) << "seed " << seed;
}

bool divides_inside(const Form& form) {
  for (const InnerSum& sum : form.sums) {
    for (const Term& t : sum.terms) {
      if (std::any_of(t.powers.begin(), t.powers.end(), [](double power) { return power < 0; })) return true;
    }
  }
  return false;
}

TEST(FormulaIsModel, WhereColumnsAreZero) {
  // 1/(1/x + 1) has no value at 0, and normal forms do not have it, but for roots of x that may be negative.
  Xoshiro random(seed + 1);
  int compared = 0;
  for (int k = 0; k < forms / 10; ++k) {
    const Case c = random_case(random);
    if (!c.normal || divides_inside(c.form)) continue;
    const Expression formula = to_expression(c.form, c.columns, c.negative);
    Values x = random_point(c, random);
    x[random.below(x.size())] = 0;
    const Result<ScaledValue> value = evaluate_with_scale(formula, c.columns, x);
    ASSERT_TRUE(value.ok());
    if (!std::isfinite(value->value)) continue;
    ++compared;
    const double predicted = (*predict(to_model(c.form, c.columns), x, Precision::Double))[0];
    ASSERT_LE(std::fabs(predicted - value->value), 1e-12 * value->scale)
        << fmt::format("seed {}, form {}: {} is {}, the model says {} at {}", seed + 1, k, print(formula), value->value,
                       predicted, fmt::join(x, ", "));
  }
  EXPECT_GT(compared, forms / 200) << "seed " << seed + 1;
}

// ---- functions of sums, as columns behind the others ---------------------------------------------------------------

Atom random_atom(Xoshiro& random, std::size_t columns) {
  Atom atom{std::string(fit_functions[random.below(std::size(fit_functions))]), {}, true};
  for (std::uint64_t t = 1 + random.below(3); t > 0; --t) {
    // A column alone in every other term: then there is no layer of products.
    atom.argument.terms.push_back(
        {{random.between(-0.5, 0.5), true},
         random.unit() < 0.5 ? power_of_column(columns, random.below(columns), 1) : random_powers(random, columns)});
  }
  if (random.unit() < 0.5) atom.argument.terms.push_back({{random.between(0, 0.5), true}, PowerList(columns, 0.0)});
  return atom;
}

TEST(FormulaIsModel, WithFunctionsOfSumsInItAndAround) {
  Xoshiro random(seed + 2);
  int compared = 0, without_products = 0;
  for (int k = 0; k < forms / 10; ++k) {
    const Case c = random_case(random);
    std::vector<Atom> atoms;
    std::vector<bool> negative = c.negative;
    for (std::uint64_t a = 1 + random.below(2); a > 0; --a) {
      atoms.push_back(random_atom(random, c.columns.size()));
      negative.push_back(true);
    }
    Form form, normal;
    do form = normal = random_form(random, negative.size());
    while (!normalise(normal, negative));  // it varies
    form.atoms = atoms;
    if (random.unit() < 0.2) form.outer = "tanh";  // which makes no error larger
    const Expression formula = to_expression(form, c.columns, c.negative);
    const Model model = to_model(form, c.columns);
    ASSERT_TRUE(check_model(model).ok()) << check_model(model).error().message;
    EXPECT_EQ(model.column_names(), c.columns);
    without_products += model.layers[0].module->name == "Linear";
    for (int p = 0; p < points; ++p) {
      const Values x = random_point(c, random);
      const Result<ScaledValue> value = evaluate_with_scale(formula, c.columns, x);
      ASSERT_TRUE(value.ok());
      if (!std::isfinite(value->value) || !std::isfinite(value->scale)) continue;
      // Layers pass on what is not defined, also where the form does not use it.
      if (std::any_of(atoms.begin(), atoms.end(), [&](const Atom& atom) {
            return !std::isfinite(*evaluate(to_expression(atom, c.columns, c.negative), c.columns, x));
          }))
        continue;
      ++compared;
      const double predicted = (*predict(model, x, Precision::Double))[0];
      ASSERT_LE(std::fabs(predicted - value->value), 1e-12 * value->scale)
          << fmt::format("seed {}, form {}: {} is {}, the model says {} at {}", seed + 2, k, print(formula),
                         value->value, predicted, fmt::join(x, ", "));
    }
  }
  EXPECT_GT(compared, forms / 20) << "seed " << seed + 2;
  EXPECT_GT(without_products, forms / 200);
}

// exp(-a/b)*a with a negative: the columns pass through the layers before the functions as they are.
TEST(FormulaIsModel, ColumnsPassFunctionsUnchanged) {
  const std::vector<std::string> columns = {"a", "b"};
  const Atom atom{"exp", {{{{-1, true}, {1, -1}}}}, false};
  const Model model = to_model({{}, {test::product(1, {1, 0, 1})}, {atom}}, columns);
  EXPECT_EQ(print(model.stack()), "NRU-power:3,Linear:3,Functions:3,NRU-power:1,Linear:1");
  for (const Values& x : {Values{-2, 4}, Values{2, -4}, Values{-3, -5}, Values{0, 1}}) {
    EXPECT_NEAR((*predict(model, x, Precision::Double))[0], std::exp(-x[0] / x[1]) * x[0], 1e-14);
  }
  // A sum of columns needs no products before it, and passes them to the last bit.
  const Atom sine{"sin", {{{{2, true}, {1, 0}}, {{1, true}, {0, 1}}, {{0.25, true}, {0, 0}}}}, true};
  const Model plain = to_model({{}, {test::product(1, {0, 0, 1})}, {sine}}, columns);
  EXPECT_EQ(print(plain.stack()), "Linear:3,Functions:3,Linear:1");
  EXPECT_EQ((*predict(plain, Values{0.3, -0.7}, Precision::Double))[0], portable::sin(0.6 - 0.7 + 0.25));
}

TEST(FormulaIsModel, WithTheNumbersOfPhysics) {
  // hbar^2*(a + b)^2/(a - b): numbers far below the smallest float.
  const Form form{{{{test::term(1, {1, 0}), test::term(1, {0, 1})}}, {{test::term(1, {1, 0}), test::term(-1, {0, 1})}}},
                  {test::product(1.1121e-68, {0, 0}, {{0, 2}, {1, -1}})}};
  const std::vector<std::string> columns = {"a", "b"};
  const Values x = {3, 2};
  const double predicted = (*predict(to_model(form, columns), x, Precision::Double))[0];
  EXPECT_NEAR(predicted / 1.1121e-68, 25, 1e-10);
  // Of many rows four are computed at a time.
  Values rows;
  for (int k = 0; k < 100; ++k) rows.insert(rows.end(), x.begin(), x.end());
  const Values many = *predict(to_model(form, columns), rows, Precision::Double);
  for (const double y : many) EXPECT_NEAR(y / 1.1121e-68, 25, 1e-10);
}

}  // namespace
}  // namespace nalm::fitting::formula_is_model_test
