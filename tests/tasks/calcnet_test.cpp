// The calculator of modules: order of operations, mistakes, and that trained operators are exact.
#include <gtest/gtest.h>

#include <cmath>

#include "tasks/calculator.hpp"

namespace nalm::calcnet_test {
namespace {

Calculator standard_calculator(bool raw = false) {
  Calculator calculator(0, raw);
  for (const CalcOperator op : all_calc_operators)
    if (op != CalcOperator::Square) calculator.set(op, *module_training(op, standard_module(op)));
  return calculator;
}

// The position of a mistake and its sentence, or an empty one.
CalcMistake mistake_in(const std::string& text) {
  const auto parsed = parse_calculation(text);
  if (const auto* mistake = std::get_if<CalcMistake>(&parsed)) return *mistake;
  static Calculator calculator = standard_calculator();
  const auto outcome = calculator.run(std::get<std::vector<CalcToken>>(parsed));
  if (const auto* mistake = std::get_if<CalcMistake>(&outcome)) return *mistake;
  return {};
}

Calculation calculate(Calculator& calculator, const std::string& text) {
  const auto parsed = parse_calculation(text);
  if (const auto* mistake = std::get_if<CalcMistake>(&parsed)) {
    ADD_FAILURE() << text << ": " << mistake->sentence;
    return {};
  }
  const auto outcome = calculator.run(std::get<std::vector<CalcToken>>(parsed));
  if (const auto* mistake = std::get_if<CalcMistake>(&outcome)) {
    ADD_FAILURE() << text << ": " << mistake->sentence;
    return {};
  }
  return std::get<Calculation>(outcome);
}

TEST(Calculator, FollowsTheOrderOfOperations) {
  const std::pair<std::string, double> cases[] = {
      {"3 + 4 * (2 - 1)^2 / 7", 3 + 4.0 / 7},
      {"2 - 3 - 4", -5},
      {"24 / 4 / 2", 3},
      {"2^3^2", 512},
      {"-2^2", -4},
      {"(-2)^3", -8},
      {"2^-2", 0.25},
      {"2^-3*4", 0.5},
      {"--3", 3},
      {"+3 - -4", 7},
      {"2*-3", -6},
      {"sqrt(16)^2", 16},
      {"\u221A9 * 2", 6},
      {"\u221A3^2", 3},
      {"4^1.5", 8},
      {"4^-0.5", 0.5},
      {"7^0", 1},
      {"0^0", 1},
      {"-7", -7},
      {".5 + 1e3", 1000.5},
      {"((((2))))", 2},
  };
  Calculator calculator = standard_calculator();
  for (const auto& [text, value] : cases) {
    const Calculation result = calculate(calculator, text);
    EXPECT_NEAR(result.value, value, 1e-14 * std::fabs(value)) << text;
    EXPECT_NEAR(result.exact, value, 1e-15 * std::fabs(value)) << text;
    EXPECT_FALSE(result.is_off()) << text;
  }
}

TEST(Calculator, IsExactWhereWeightsAreWhole) {
  Calculator calculator = standard_calculator(), raw = standard_calculator(true);
  for (const char* text : {"0.1 + 0.2", "1e-12 * 3e-9", "1e200 / 3", "1/3*3 - 1", "-1.7 * 2.9 / -0.3"}) {
    const Calculation result = calculate(calculator, text);
    EXPECT_EQ(result.value, result.exact) << text;
  }
  // The module itself loses the digits of small numbers in x + 1 - 1.
  EXPECT_EQ(calculate(raw, "2 * 3").error(), 0);
  EXPECT_GT(calculate(raw, "1e-12 * 3e-9").relative_error(), 1e-6);
  EXPECT_TRUE(calculate(raw, "1e-12 * 3e-9").is_off());
}

TEST(Calculator, ShowsItsSteps) {
  Calculator calculator = standard_calculator();
  const Calculation result = calculate(calculator, "2^5 - 1");
  ASSERT_EQ(result.steps.size(), 4u);  // 2*2, 4*4, 2*16, 32 - 1
  EXPECT_EQ(result.steps.front().by->modules(), "NMU");
  EXPECT_EQ(result.steps.back().by->modules(), "NAU");
  EXPECT_EQ(result.steps.back().operands, (std::vector<double>{32, 1}));
  EXPECT_EQ(result.steps.back().prediction, 31);
}

TEST(Calculator, PutsSignsBackWhereModulesSeeMagnitudes) {
  Calculator calculator = standard_calculator();
  OperatorTraining training = *module_training(CalcOperator::Multiply, "NAC*");
  EXPECT_TRUE(training.magnitudes);
  training.settings.recipe.training.iterations = 10000;
  training.settings.recipe.training.optimiser.set_learning_rate(1e-2);
  calculator.set(CalcOperator::Multiply, training);
  const Calculation result = calculate(calculator, "-3 * 4");
  EXPECT_NEAR(result.value, -12, 0.5);
  EXPECT_EQ(result.exact, -12);
}

TEST(Calculator, PointsAtMistakes) {
  struct Case {
    std::string text;
    std::size_t position;
    std::string part;
  };
  const Case cases[] = {
      {"", 0, "nothing to calculate"},
      {"   ", 0, "nothing to calculate"},
      {"3 +", 3, "missing at the end"},
      {"3 + * 4", 4, "must stand here"},
      {"2 ** 3", 3, "written with ^"},
      {"(3 + 4", 0, "closing"},
      {"3 + 4)", 5, "remove it"},
      {"()", 1, "before this"},
      {"2 3", 2, "operator is missing"},
      {"2(3)", 1, "write * to multiply"},
      {"x + 1", 0, "names"},
      {"sqrt 2", 5, "parentheses"},
      {"3 , 4", 2, "must stand here, or the end"},
      {"1e999", 0, "range of a double"},
      {"4 / (2 - 2)", 2, "divides by zero"},
      {"0^-1", 1, "divides by zero"},
      {"1e308 * 10", 6, "largest number"},
      {"10^400", 2, "largest number"},
      {"sqrt(-1)", 0, "negative number"},
      {"(-8)^0.5", 4, "negative number"},
      {"2^0.3", 1, "exponent 0.3"},
      {std::string(longest_calculation + 1, '1'), longest_calculation, "characters"},
      {std::string(deepest_calculation + 1, '(') + "1", deepest_calculation, "open here"},
      {std::string(deepest_calculation + 1, '-') + "1", deepest_calculation, "open here"},
  };
  for (const auto& [text, position, part] : cases) {
    const CalcMistake mistake = mistake_in(text);
    EXPECT_EQ(mistake.position, position) << text.substr(0, 40) << ": " << mistake.sentence;
    EXPECT_NE(mistake.sentence.find(part), std::string::npos) << text.substr(0, 40) << ": " << mistake.sentence;
  }
}

TEST(Calculator, TakesAsMuchAsItSays) {
  Calculator calculator = standard_calculator();
  std::string sum = "1";
  while (sum.size() + 2 <= longest_calculation) sum += "+1";
  EXPECT_EQ(calculate(calculator, sum).value, static_cast<double>(sum.size() / 2 + 1));
  const std::string deep = std::string(deepest_calculation, '(') + "1" + std::string(deepest_calculation, ')');
  EXPECT_EQ(calculate(calculator, deep).value, 1);
}

TEST(Calculator, RefusesModulesThatCannotLearnAnOperator) {
  const auto sentence = [](CalcOperator op, std::string_view module) {
    const Result<OperatorTraining> training = module_training(op, module);
    return training ? std::string() : training.error().message;
  };
  EXPECT_NE(sentence(CalcOperator::Divide, "NMU").find("NMU cannot learn /"), std::string::npos);
  EXPECT_NE(sentence(CalcOperator::Root, "NMU").find("NRU-power"), std::string::npos);
  EXPECT_NE(sentence(CalcOperator::Add, "nonsense").find("nonsense"), std::string::npos);
}

TEST(Calculator, LearnsNothingWithoutALearningRate) {
  OperatorTraining training = *module_training(CalcOperator::Add, "NAU");
  training.settings.recipe.training.optimiser.set_learning_rate(0);
  training.settings.recipe.training.iterations = 1000;
  const Result<LearntOperator> learnt = learn_operator(CalcOperator::Add, training, 0);
  ASSERT_TRUE(learnt);
  EXPECT_GT(learnt->error, 0.01);
  EXPECT_FALSE(learnt->spelled);
}

}  // namespace
}  // namespace nalm::calcnet_test
