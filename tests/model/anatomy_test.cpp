// What a layer computes from what.
#include "model/anatomy.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nalm::anatomy_test {
namespace {

using Kind = AnatomyPart::Kind;

const AnatomyPart& part(const Anatomy& anatomy, Kind kind, std::string_view name) {
  for (const AnatomyPart& each : anatomy.parts)
    if (each.kind == kind && each.name == name) return each;
  ADD_FAILURE() << name;
  return anatomy.parts.front();
}
std::vector<std::string> names_used(const Anatomy& anatomy, const AnatomyPart& of) {
  std::vector<std::string> names;
  for (const std::size_t k : of.uses) names.push_back(anatomy.parts[k].name);
  return names;
}
Anatomy of(std::string_view module, int inputs, int outputs) {
  return anatomy_of(**find_module(module), default_shape(**find_module(module), inputs, outputs));
}
using Names = std::vector<std::string>;

TEST(Anatomy, AGateBetweenSumAndProductIsFoundInTheCode) {
  const Anatomy nalu = of("NALU", 3, 1);
  const AnatomyPart& y = part(nalu, Kind::Output, "y");
  EXPECT_EQ(print(y.formulas.front()), "g*a + (1 - g)*m");
  EXPECT_EQ(names_used(nalu, y), (Names{"summative path a", "multiplicative path m", "gate g"}));
  const AnatomyPart& a = part(nalu, Kind::Step, "summative path a");
  EXPECT_EQ(print(a.formulas.front()), "x1*W_1 + x2*W_2 + x3*W_3");
  EXPECT_EQ(names_used(nalu, part(nalu, Kind::Weight, "W")), (Names{"W_hat", "M_hat"}));
  EXPECT_EQ(names_used(nalu, part(nalu, Kind::Step, "gate g")), (Names{"x", "G"}));
}

// The products of earlier factors are kept for the gradient only.
TEST(Anatomy, WhatIsKeptOnTheWayIsWrittenOut) {
  const Anatomy nmu = of("NMU", 3, 1);
  EXPECT_EQ(print(part(nmu, Kind::Output, "y").formulas.front()), "factor_1*factor_2*factor_3");
  for (const AnatomyPart& each : nmu.parts) EXPECT_NE(each.name, "product before");
  EXPECT_EQ(print(part(nmu, Kind::Step, "factor").formulas[1]), "W_2*x2 + 1 - W_2");
}

TEST(Anatomy, WithSeveralOutputsWeightsHaveTwoNumbers) {
  const Anatomy nau = of("NAU", 2, 2);
  const AnatomyPart& y = part(nau, Kind::Output, "y");
  ASSERT_EQ(y.formulas.size(), 2u);
  EXPECT_EQ(print(y.formulas[1]), "x1*W_12 + x2*W_22");
}

// For every module: all parts before what uses them, and the numbers filled in give the values that the module gives.
TEST(Anatomy, NumbersFilledInGiveTheModulesOwnValues) {
  for (const ModuleInfo* module : all_modules()) {
    SCOPED_TRACE(module->name);
    const int outputs = module->outputs_multiple_of;
    Layer layer{module, default_shape(*module, 3, outputs), {}};
    const int count = parameter_count(*module, layer.shape);
    for (int k = 0; k < count; ++k) layer.parameters.push_back(0.15 + 0.07 * (k % 9));
    const std::vector<double> input{0.3, 0.7, 0.9};
    const auto explained = explain({{layer}, {}}, input);
    ASSERT_TRUE(explained.ok());
    const Anatomy anatomy = anatomy_of(*module, layer.shape);
    std::vector<std::string> names;
    std::vector<double> numbers;
    for (const auto& [symbol, value] : values_of(anatomy, layer, explained->front())) {
      EXPECT_EQ(std::count(names.begin(), names.end(), symbol), 0) << symbol;
      names.push_back(symbol);
      numbers.push_back(value);
    }
    std::size_t at = 0;
    for (std::size_t k = 0; k < anatomy.parts.size(); ++k) {
      const AnatomyPart& each = anatomy.parts[k];
      for (const std::size_t used : each.uses) EXPECT_LT(used, k) << each.name;
      for (std::size_t e = 0; e < each.symbols.size(); ++e, ++at) {
        if (each.formulas.empty()) continue;
        const Result<double> value = evaluate(each.formulas[e], names, numbers);
        ASSERT_TRUE(value.ok()) << print(each.formulas[e]);
        EXPECT_NEAR(*value, numbers[at], 1e-9 * std::max(1.0, std::fabs(numbers[at]))) << print(each.formulas[e]);
      }
    }
  }
}

}  // namespace
}  // namespace nalm::anatomy_test
