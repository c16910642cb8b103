// Descriptions of stacks such as "NAU:2,NMU:1".
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::stack_test {
namespace {

Stack stack_of(const std::string& text, int inputs) {
  const Result<Stack> stack = parse_stack(text, inputs);
  EXPECT_TRUE(stack.ok()) << stack.error().message;
  return stack.ok() ? *stack : Stack{};
}

std::string error_of(const std::string& text, int inputs = 2) {
  const Result<Stack> stack = parse_stack(text, inputs);
  EXPECT_FALSE(stack.ok()) << text;
  return stack.ok() ? "" : stack.error().message;
}

LayerSpec layer(std::string_view module, int inputs, int outputs) {
  const ModuleInfo* info = *find_module(module);
  return {info, default_shape(*info, inputs, outputs)};
}

TEST(Stack, LayersAreConnected) {
  const Stack stack = stack_of("NAU:2,NMU:1", 4);
  ASSERT_EQ(stack.size(), 2U);
  EXPECT_EQ(stack[0].module->name, "NAU");
  EXPECT_EQ(stack[0].shape, (LayerShape{4, 2, {}}));
  EXPECT_EQ(stack[1].module->name, "NMU");
  EXPECT_EQ(stack[1].shape, (LayerShape{2, 1, {}}));
}

TEST(Stack, NamesMayBeLowerCaseAndSpaced) {
  EXPECT_EQ(print(stack_of(" nac*:3 , nac•:2,gnalu:1 ", 2)), "NAC*:3,NAC*:2,G-NALU:1");
}

TEST(Stack, OptionsStandInBrackets) {
  const Stack stack = stack_of("NSR:4(redundancy=2, lambda = 0.5),NLRL:1(form=or,or=demorgan,output_negation=yes)", 3);
  EXPECT_EQ(stack[0].shape.options[0], 0.5);
  EXPECT_EQ(stack[0].shape.options[1], 2);
  EXPECT_EQ(stack[1].shape, (LayerShape{4, 1, {2, 1, 1}}));
}

TEST(Stack, OptionsLeftOutAreStandard) {
  EXPECT_EQ(stack_of("NSR:2", 2)[0].shape.options[1], 10);
  EXPECT_EQ(stack_of("NSR:2()", 2)[0].shape.options[1], 10);
}

TEST(Stack, PrintedTextReadsBack) {
  for (const std::string text :
       {"NAU:2,NMU:1", "NAC+:3,NAC*:1", "NSR:2(redundancy=2)", "NSR:4(lambda=0.1,redundancy=3)",
        "NLRL:5(form=and,output_negation=yes),NLRL:1", "iNALU:1,G-NALU:2,RealNPU:3,NPU:1"}) {
    const Stack stack = stack_of(text, 2);
    EXPECT_EQ(print(stack), text);
    const Stack again = stack_of(print(stack), 2);
    for (std::size_t k = 0; k < stack.size(); ++k) {
      EXPECT_EQ(again[k].module, stack[k].module);
      EXPECT_EQ(again[k].shape, stack[k].shape);
    }
  }
}

TEST(Stack, EveryModulePrintsAndReadsBack) {
  for (const ModuleInfo* module : all_modules()) {
    const Stack stack = {{module, default_shape(*module, 3, module->outputs_multiple_of)}};
    EXPECT_EQ(print(stack_of(print(stack), 3)), print(stack));
  }
}

TEST(Stack, LayerWithoutOutputsIsExplained) {
  const auto message = [](const std::string& layer_text) {
    return "layer \"" + layer_text + "\" should be a module, a colon and the number of outputs, such as NAU:2.";
  };
  for (const std::string text : {"", "NAU", "NAU:", "NAU:0", "NAU:-1", "NAU:x", "NAU:1.5", "NAU:99999999999"}) {
    EXPECT_EQ(error_of(text), message(text));
  }
  EXPECT_EQ(error_of("NAU:2,"), message(""));
  EXPECT_EQ(error_of("NAU:2)"), message("NAU:2)"));
}

TEST(Stack, UnknownModuleListsTheModules) {
  const std::string message = error_of("NAU:2,NUA:1");
  EXPECT_TRUE(message.starts_with("\"NUA\" is not a module; the modules are ")) << message;
  EXPECT_NE(message.find("NAU, "), std::string::npos) << message;
}

TEST(Stack, WrongOptionsSayWhatIsPossible) {
  EXPECT_EQ(error_of("NAU:2(lambda=1)"), "NAU has no options; remove \"lambda\".");
  EXPECT_EQ(error_of("NSR:2(mu=1)"), "NSR has no option \"mu\"; its options are lambda, redundancy.");
  EXPECT_EQ(error_of("NSR:2(lambda=big)"), "NSR: option \"lambda\" must be a number, not \"big\".");
  EXPECT_EQ(error_of("NSR:2(lambda)"), "option \"lambda\" of NSR needs a value, as in name=value.");
  EXPECT_EQ(error_of("NLRL:1(form=xor)"), "NLRL: option \"form\" cannot be \"xor\"; it can be full, and, or.");
  EXPECT_EQ(error_of("NSR:2(lambda=1"), "layer \"NSR:2(lambda=1\": the bracket is not closed.");
  EXPECT_EQ(error_of("NSR:2(lambda=1)x"), "layer \"NSR:2(lambda=1)x\": the bracket is not closed.");
  EXPECT_EQ(error_of("NSR:2(redundancy=0)"),
            "layer 1: NSR: option \"redundancy\" must be a whole number from 1 to 1e6, not 0.");
  EXPECT_EQ(error_of("NSR:2(redundancy=1.5)"),
            "layer 1: NSR: option \"redundancy\" must be a whole number from 1 to 1e6, not 1.5.");
  EXPECT_EQ(error_of("NSR:2(lambda=nan)"), "layer 1: NSR: option \"lambda\" must be a number from 0 to 1e6, not nan.");
}

TEST(Stack, ImpossibleShapesAreRefused) {
  EXPECT_EQ(error_of("NAU:2,NSR:3"), "layer 2: NSR: the number of outputs must be a multiple of 2, not 3.");
  EXPECT_EQ(error_of("NAU:2", 0), "layer 1: NAU: a layer needs at least 1 input and at most 1048576, not 0.");
  EXPECT_EQ(error_of("NAU:2000000"), "layer 1: NAU: a layer needs at least 1 output and at most 1048576, not 2000000.");
  EXPECT_EQ(error_of("NAU:100000", 100000),
            "layer 1: NAU: 100000 inputs by 100000 outputs is more than 1e8 weights; make the layer smaller.");
}

// option_text would read past the list of names.
TEST(Stack, ChoicesOutOfRangeAreRefused) {
  for (const double form : {-1.0, 0.5, 3.0, 7.0}) {
    EXPECT_FALSE(check_shape(**find_module("NLRL"), {1, 1, {form, 0, 0}}).ok()) << form;
  }
}

TEST(Stack, CheckFindsLayersThatDoNotFit) {
  EXPECT_EQ(check_stack({}).error().message, "a network needs at least one layer.");
  EXPECT_EQ(check_stack({layer("NAU", 2, 3), layer("NMU", 2, 1)}).error().message,
            "layer 2 has 2 inputs, but layer 1 gives 3 outputs.");
  EXPECT_TRUE(check_stack({layer("NAU", 2, 3), layer("NMU", 3, 1)}).ok());
}

TEST(Stack, ModelsWithoutColumnNamesCountTheirInputs) {
  Model model;
  model.layers.push_back({*find_module("NAU"), {2, 1, {}}, {1, 1}});
  EXPECT_EQ(model.column_names(), (std::vector<std::string>{"x1", "x2"}));
  model.columns = {"a", "b"};
  EXPECT_EQ(model.column_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(print(model.stack()), "NAU:1");
}

}  // namespace
}  // namespace nalm::stack_test
