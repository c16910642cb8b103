// Forms: equal formulas get equal keys, and all ways to write one have its values.
#include "fit/form.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fit/cases.hpp"
#include "fit/climb.hpp"
#include "fit/form_algebra.hpp"
#include "fit/form_layers.hpp"
#include "fit/form_spell.hpp"
#include "fit/tape.hpp"
#include "sanitized.hpp"

namespace nalm::fitting::form_test {
namespace {

using test::product;
using test::term;
using Values = std::vector<double>;

const std::vector<std::string> names = {"a", "b", "c", "d"};
const std::vector<bool> all_positive(4, false), all_negative(4, true);

std::string key_after(Form form, const std::vector<bool>& negative = all_positive) {
  EXPECT_TRUE(normalise(form, negative));
  return key_of(form);
}

std::string text_after(Form form, const std::vector<bool>& negative = all_positive) {
  EXPECT_TRUE(normalise(form, negative));
  return print(to_expression(form, names, negative));
}

ScaledValue value_of(const Form& form, const Values& x, const std::vector<bool>& negative = all_positive) {
  return *evaluate_with_scale(to_expression(form, names, negative), names, x);
}

// ---- which powers there are ----------------------------------------------------------------------------------------

// The root of a root is a quarter power; rounded to nothing it would be fitted, and come out as x^0.7455.
TEST(Powers, AQuarterIsNoHalf) {
  const Table table =
      test::table_of({{"x", 1, 5}}, 40, 1, [](const double* x, Xoshiro&) { return std::pow(x[0], 0.7); });
  const Data data = *prepare(table, {.target = "y"});
  const Rows rows = rows_of(data, data.all, 100);
  const std::vector<std::string> any_column;
  const auto measured = [&](const Form& form, Powers powers) {
    return Judge{data, rows, powers, any_column}.measure(form).has_value();
  };
  const Form quarter{{{{term(1, {0.5})}}}, {product(1, {0}, {{0, 0.5}})}}, half{{}, {product(1, {1.5})}};
  const Form inner{{{{term(1, {0.75}), term(1, {0})}}}, {product(1, {0}, {{0, 1}})}},
      outer{{{{term(1, {1}), term(1, {0})}}}, {product(1, {0}, {{0, 0.25}})}};
  for (const Form& form : {quarter, inner, outer}) {
    EXPECT_FALSE(measured(form, Powers::Half));
    EXPECT_TRUE(measured(form, Powers::Any));
  }
  EXPECT_TRUE(measured(half, Powers::Half));
}

// ---- normal forms --------------------------------------------------------------------------------------------------

TEST(Normalise, TheOrderOfTermsDoesNotMatter) {
  const Form one{{}, {product(2, {1, 1, 0, 0}), product(3, {0, 0, 1, 0}), product(5, {0, 0, 0, 0})}};
  const Form other{{}, {product(5, {0, 0, 0, 0}), product(2, {1, 1, 0, 0}), product(3, {0, 0, 1, 0})}};
  EXPECT_EQ(text_after(one), "2*a*b + 3*c + 5");
  EXPECT_EQ(text_after(other), "2*a*b + 3*c + 5");
  EXPECT_EQ(key_after(one), key_after(other));
}

TEST(Normalise, TheOrderOfSumsDoesNotMatter) {
  const InnerSum ab{{term(1, {1, 0, 0, 0}), term(2, {0, 1, 0, 0})}}, cd{{term(1, {0, 0, 1, 0}), term(3, {0, 0, 0, 1})}};
  const Form one{{ab, cd}, {product(1, {0, 0, 0, 0}, {{0, 1}, {1, -1}})}};
  const Form other{{cd, ab}, {product(1, {0, 0, 0, 0}, {{0, -1}, {1, 1}})}};
  EXPECT_EQ(text_after(one), "(a + 2*b)/(c + 3*d)");
  EXPECT_EQ(text_after(other), "(a + 2*b)/(c + 3*d)");
  EXPECT_EQ(key_after(one), key_after(other));
}

TEST(Normalise, EqualTermsAreAdded) {
  EXPECT_EQ(text_after({{}, {product(2, {1, 0, 0, 0}), product(3, {0, 1, 0, 0}), product(4, {1, 0, 0, 0})}}),
            "6*a + 3*b");
}

TEST(Normalise, EqualSumsBecomeOne) {
  const InnerSum sum{{term(1, {1, 0, 0, 0}), term(1, {0, 1, 0, 0})}};
  const InnerSum twice{{term(2, {0, 1, 0, 0}), term(2, {1, 0, 0, 0})}};
  EXPECT_EQ(text_after({{sum, twice}, {product(1, {0, 0, 1, 0}, {{0, 1}, {1, 1}})}}), "2*c*(a + b)^2");
}

TEST(Normalise, ACommonFactorStandsInFront) {
  const Form spread{{}, {product(2, {1, 1, 0, 0}), product(6, {1, 0, 1, 0})}};
  const Form inside{{{{term(6, {0, 0, 1, 0}), term(2, {0, 1, 0, 0})}}}, {product(1, {1, 0, 0, 0}, {{0, 1}})}};
  EXPECT_EQ(text_after(spread), "2*a*(b + 3*c)");
  EXPECT_EQ(text_after(inside), "2*a*(b + 3*c)");
  EXPECT_EQ(key_after(spread), key_after(inside));
}

TEST(Normalise, AFractionOverAFractionIsAFraction) {  // columns m1, m2, r1, r2
  const InnerSum above{{term(1, {0, 0, 1, 0}), term(1, {-1, 1, 0, 1})}};
  const InnerSum below{{term(1, {0, 0, 0, 0}), term(1, {-1, 1, 0, 0})}};
  const Form nested{{above, below}, {product(1, {0, 0, 0, 0}, {{0, 1}, {1, -1}})}};
  const InnerSum moments{{term(1, {1, 0, 1, 0}), term(1, {0, 1, 0, 1})}};
  const InnerSum masses{{term(1, {1, 0, 0, 0}), term(1, {0, 1, 0, 0})}};
  const Form plain{{moments, masses}, {product(1, {0, 0, 0, 0}, {{0, 1}, {1, -1}})}};
  EXPECT_EQ(text_after(plain), "(a*c + b*d)/(a + b)");
  EXPECT_EQ(text_after(nested), "(a*c + b*d)/(a + b)");
  EXPECT_EQ(key_after(nested), key_after(plain));
}

TEST(Normalise, ASumOfOneTermIsAFactor) {
  const Form form{{{{term(3, {1, 0, 0, 0})}}}, {product(2, {0, 1, 0, 0}, {{0, 2}})}};
  EXPECT_EQ(text_after(form), "18*a^2*b");
  EXPECT_EQ(key_after(form), key_after({{}, {product(1, {2, 1, 0, 0})}}));
}

TEST(Normalise, AFactorTimesASumIsAPlainSum) {
  const Form form{{{{term(1, {1, 0, 0, 0}), term(3, {0, 1, 0, 0})}}}, {product(2, {0, 0, 0, 0}, {{0, 1}})}};
  EXPECT_EQ(text_after(form), "2*a + 6*b");
}

TEST(Normalise, TheRootOfASquareIsTheColumnOnlyIfThatIsPositive) {
  const InnerSum sum{{term(4, {2, 0, 0, 0}), term(4, {2, 1, 0, 0})}};  // 4*a^2*(1 + b)
  Form form{{sum}, {product(1, {0, 0, 0, 0}, {{0, 0.5}})}};
  EXPECT_EQ(text_after(form), "2*a*sqrt(b + 1)");
  ASSERT_TRUE(normalise(form, all_negative));
  EXPECT_NEAR(value_of(form, {-3, 3, 0, 0}, all_negative).value, 12, 1e-13);
}

TEST(Normalise, TheRootOfOneSquareIsNotTheColumnEither) {
  Form form{{{{term(4, {2, 0, 0, 0})}}}, {product(1, {0, 1, 0, 0}, {{0, 0.5}})}};  // sqrt(4*a^2)*b
  if (!normalise(form, all_negative)) return;
  EXPECT_NEAR(value_of(form, {-3, 1, 0, 0}, all_negative).value, 6, 1e-13)
      << print(to_expression(form, names, all_negative));
}

TEST(Normalise, RefusesWhatIsNoFormula) {
  Form constant{{}, {product(2, {0, 0, 0, 0})}};
  EXPECT_FALSE(normalise(constant, all_positive));
  Form nothing{{}, {product(0, {1, 0, 0, 0})}};
  EXPECT_FALSE(normalise(nothing, all_positive));
  Form cancels{{}, {product(2, {1, 0, 0, 0}), product(-2, {1, 0, 0, 0})}};
  EXPECT_FALSE(normalise(cancels, all_positive));
  Form empty_sum{{{{term(0, {1, 0, 0, 0})}}}, {product(1, {1, 0, 0, 0}, {{0, 1}})}};
  EXPECT_FALSE(normalise(empty_sum, all_positive));
  Form root_of_negative{{{{term(-1, {1, 0, 0, 0})}}}, {product(1, {0, 0, 0, 0}, {{0, 0.5}})}};
  EXPECT_FALSE(normalise(root_of_negative, all_positive));
}

TEST(Key, KnowsPowersButNoNumbers) {
  const Form one{{}, {product(2, {1, 0, 0, 0}), product(3, {0, 1, 0, 0})}};
  const Form numbers{{}, {product(-7, {1, 0, 0, 0}), product(0.1, {0, 1, 0, 0})}};
  const Form powers{{}, {product(2, {1, 0, 0, 0}), product(3, {0, 2, 0, 0})}};
  const Form columns{{}, {product(2, {1, 0, 0, 0}), product(3, {0, 0, 1, 0})}};
  EXPECT_EQ(key_after(one), key_after(numbers));
  EXPECT_NE(key_after(one), key_after(powers));
  EXPECT_NE(key_after(one), key_after(columns));
}

// ---- in bulk -------------------------------------------------------------------------------------------------------

double random_power(Xoshiro& random, bool whole) {
  constexpr double choices[] = {1, 1, 1, -1, 2, -2, 3, 0.5, -0.5, 1.5};
  return choices[random.below(whole ? 7 : 10)];
}

// What a search may come to: columns with negative values have whole powers.
Form random_form(Xoshiro& random, const std::vector<bool>& negative, bool roots_of_sums = true) {
  const auto powers = [&] {
    PowerList list(4, 0.0);
    for (std::size_t i = 0; i < 4; ++i) {
      if (random.unit() < 0.35) list[i] = random_power(random, negative[i]);
    }
    return list;
  };
  const auto number = [&] { return (random.unit() < 0.3 ? -1 : 1) * std::exp(random.between(-2, 2)); };
  Form form;
  form.sums.resize(random.below(3));
  for (InnerSum& sum : form.sums) {
    for (std::uint64_t k = 0, count = 1 + random.below(3); k < count; ++k)
      sum.terms.push_back(term(number(), powers()));
  }
  for (std::uint64_t k = 0, count = 1 + random.below(3); k < count; ++k) {
    form.products.push_back(product(number(), powers()));
    for (std::size_t s = 0; s < form.sums.size(); ++s) {
      if (random.unit() < 0.6) form.products.back().sums.push_back({s, random_power(random, !roots_of_sums)});
    }
  }
  return form;
}

Values random_point(Xoshiro& random, const std::vector<bool>& negative) {
  Values x;
  for (const bool n : negative) x.push_back(random.between(0.3, 3) * (n && random.unit() < 0.5 ? -1 : 1));
  return x;
}

// Compares where both are defined; gives whether they are.
bool expect_same_value(const Form& a, const Form& b, const Values& x, const std::vector<bool>& negative) {
  const ScaledValue u = value_of(a, x, negative), v = value_of(b, x, negative);
  if (!std::isfinite(u.value) || !std::isfinite(v.value)) return false;
  EXPECT_NEAR(u.value, v.value, 1e-12 * std::max(u.scale, v.scale))
      << print(to_expression(a, names, negative)) << " became " << print(to_expression(b, names, negative));
  return true;
}

constexpr int forms = test::sanitized ? 500 : 20000;

void expect_normalise_keeps_values(std::uint64_t seed, const std::vector<bool>& negative, bool roots_of_sums) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Xoshiro random(seed);
  int compared = 0, normal = 0;
  for (int k = 0; k < forms && !testing::Test::HasFailure(); ++k) {
    const Form form = random_form(random, negative, roots_of_sums);
    Form other = form;
    if (!normalise(other, negative)) continue;
    ++normal;
    for (int point = 0; point < 3; ++point) {
      compared += expect_same_value(form, other, random_point(random, negative), negative);
    }
  }
  EXPECT_GT(compared, normal);
  EXPECT_GT(normal, forms / 2);
}

TEST(Normalise, KeepsTheValue) { expect_normalise_keeps_values(21, all_positive, true); }

TEST(Normalise, KeepsTheValueOfNegativeColumns) { expect_normalise_keeps_values(22, all_negative, false); }

TEST(Normalise, KeepsTheValueOfRootsOfNegativeColumns) { expect_normalise_keeps_values(25, all_negative, true); }

TEST(Normalise, ASecondTimeChangesNothing) {
  const std::uint64_t seed = 23;
  Xoshiro random(seed);
  for (int k = 0; k < forms; ++k) {
    Form form = random_form(random, all_positive);
    if (!normalise(form, all_positive)) continue;
    Form again = form;
    ASSERT_TRUE(normalise(again, all_positive)) << "seed " << seed << ", form " << k;
    ASSERT_EQ(key_of(again), key_of(form)) << "seed " << seed << ", form " << k;
  }
}

TEST(Spellings, AllHaveTheSameValues) {
  const std::uint64_t seed = 24;
  Xoshiro random(seed);
  int compared = 0, written = 0;
  for (int k = 0; k < forms / 4 && !testing::Test::HasFailure(); ++k) {
    Form form = random_form(random, all_positive);
    if (!normalise(form, all_positive)) continue;
    const Values x = random_point(random, all_positive);
    for (const Form& spelling : spellings(form)) {
      ++written;
      compared += expect_same_value(form, spelling, x, all_positive);
    }
  }
  EXPECT_GT(compared, written / 2) << "seed " << seed;
}

TEST(Spellings, OfAQuotientGiveEveryTermTheOne) {
  Form form{{{{term(1, {1, 0, 0, 0}), term(4, {0, 1, 0, 0})}}}, {product(2, {0, 0, 0, 0}, {{0, -1}})}};
  std::vector<std::string> texts;
  for (const Form& spelling : spellings(form)) texts.push_back(print(to_expression(spelling, names, all_positive)));
  for (const char* text : {"2/(a + 4*b)", "0.5/(0.25*a + b)", "1/(0.5*a + 2*b)"}) {
    EXPECT_NE(std::find(texts.begin(), texts.end(), text), texts.end()) << text << " is missing";
  }
}

// ---- formulas and layers -------------------------------------------------------------------------------------------

TEST(Form, FormulaAndLayersAgree) {
  // 2*a^2*sqrt(b + 3*c)/(a - d)^2 - 5
  const Form form{{{{term(1, {0, 1, 0, 0}), term(3, {0, 0, 1, 0})}}, {{term(1, {1, 0, 0, 0}), term(-1, {0, 0, 0, 1})}}},
                  {product(2, {2, 0, 0, 0}, {{0, 0.5}, {1, -2}}), product(-5, {0, 0, 0, 0})}};
  const Values x = {3, 1, 5, 2};
  EXPECT_EQ(print(to_expression(form, names, all_positive)), "2*a^2*sqrt(b + 3*c)/(a - d)^2 - 5");
  const Model model = to_model(form, names);
  EXPECT_TRUE(check_model(model).ok());
  EXPECT_EQ(print(model.stack()), "NRU-power:5,Linear:3,NRU-power:1,Linear:1");
  EXPECT_NEAR((*predict(model, x, Precision::Double))[0], 67, 1e-12);
  EXPECT_NEAR(value_of(form, x).value, 67, 1e-12);
}

TEST(Form, APlainSumOfColumnsIsOneLinearLayer) {
  const Form form{{}, {product(2, {1, 0, 0, 0}), product(-3, {0, 0, 1, 0}), product(1, {0, 0, 0, 0})}};
  const Model model = to_model(form, names);
  EXPECT_EQ(print(model.stack()), "Linear:1");
  EXPECT_EQ(model.layers[0].parameters, (Values{2, 0, -3, 0, 1}));
}

TEST(Form, RootsOfNegativeColumnsAreThoseOfTheMagnitude) {
  const Form form{{}, {product(1, {0.5, 1.5, 0, 0})}};
  EXPECT_EQ(print(to_expression(form, names, all_positive)), "sqrt(a)*b^1.5");
  const Values x = {-4, -9, 0, 0};
  EXPECT_NEAR(value_of(form, x, all_negative).value, (*predict(to_model(form, names), x, Precision::Double))[0], 1e-13);
}

TEST(Form, SlotsAreTheFreeNumbersInTheirOrder) {
  Form form{{{{term(1, {1, 0, 0, 0}), term(4, {0, 1, 0, 0})}}}, {product(2, {0, 0, 0, 0}, {{0, -1}})}};
  form.sums[0].terms[0].coefficient.free = false;
  EXPECT_EQ(free_values(form), (Values{2, 4}));
  EXPECT_EQ(free_count(form), 2);
  const Expression with_slots = to_expression(form, names, all_positive, true);
  std::vector<std::string> all = names;
  all.insert(all.end(), {slot_name(0), slot_name(1)});
  EXPECT_EQ(*evaluate(with_slots, all, Values{3, 5, 0, 0, 26, 2}), 2);  // 26/(3 + 2*5)
  set_free_values(form, {26, 2});
  EXPECT_EQ(value_of(form, {3, 5, 0, 0}).value, 2);
  EXPECT_EQ(form.sums[0].terms[0].coefficient.value, 1);
}

TEST(Form, SizeCountsOperationsVariablesAndNumbers) {
  EXPECT_EQ(size_of(*parse_expression("a")), 1);
  EXPECT_EQ(size_of(*parse_expression("a + 2*b")), 5);
  EXPECT_EQ(size_of(*parse_expression("sqrt(a^2)")), 4);
}

}  // namespace
}  // namespace nalm::fitting::form_test
