// What people type to choose runs of the single module task, and what it means.
#include "tasks/single_module/ranges.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tasks/single_module_plan.hpp"
#include "words.hpp"

namespace nalm::single_module_ranges_test {
namespace {

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

void expect_same(const Range& a, const Range& b) {
  EXPECT_TRUE(same_bits(a.lo, b.lo) && same_bits(a.hi, b.hi)) << name_of(a) << " and " << name_of(b);
  ASSERT_EQ(a.second.has_value(), b.second.has_value());
  if (!a.second) return;
  EXPECT_TRUE(same_bits(a.second->lo, b.second->lo) && same_bits(a.second->hi, b.second->hi))
      << name_of(a) << " and " << name_of(b);
}

Pair pair_of(std::string_view module, Operation operation) { return {*find_module(module), operation}; }

// ---- ranges --------------------------------------------------------------------------------------------------------

TEST(ParseRange, TakesOnePartOrTwoWithOrWithoutU) {
  for (const char* text : {"[1,2)", "U[1,2)", "u[1,2)", " [ 1 , 2 ) ", "[1e0,2.0)"}) {
    const Result<Range> range = parse_range(text);
    ASSERT_TRUE(range.ok()) << complaint(range);
    expect_same(*range, {1, 2, {}});
  }
  for (const char* text : {"[-6,-2)+[2,6)", "U[-6,-2) + [2,6)"}) {
    const Result<Range> range = parse_range(text);
    ASSERT_TRUE(range.ok()) << complaint(range);
    expect_same(*range, {-6, -2, Range::Part{2, 6}});
  }
}

TEST(ParseRange, RefusesWhatIsNoRangeAndShowsHowToWriteOne) {
  for (const char* text :
       {"",           " ",       "1,2",       "[1,2",    "[1)",    "[1,2,3)", "(1,2)",       "[2,1)",
        "[1,1)",      "[a,2)",   "[1,inf)",   "[nan,2)", "[1,2)x", "[1,2)+",  "[1,2)+[3,5)", "[1,2)+[3,4)+[5,6)",
        "[1,2)[3,4)", "UU[1,2)", "[1e999,2)", "[,2)",    "[1,)",   ")[1,2"}) {
    const std::string message = complaint(parse_range(text));
    EXPECT_TRUE(contains(message, "\"" + std::string(text) + "\" is not a range")) << text << ": " << message;
    EXPECT_TRUE(contains(message, "write it like [1,2)")) << message;
  }
}

TEST(ParseRange, ReadsBackEveryNameToTheBit) {
  std::vector<Range> ranges;
  for (const TaskRange& range : paper_ranges()) ranges.insert(ranges.end(), {range.train, range.test});
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  ranges.insert(ranges.end(), {{0.1 + 0.2, 1.0 / 3 + 1, {}},
                               {-tiny, tiny, {}},
                               {-0.0, 1, {}},
                               {-1e300, 1e300, {}},
                               {1e22, 1e23, {}},
                               {0.1, 0.2, Range::Part{0.3, 0.1 + 0.3}}});
  for (const Range& range : ranges) {
    const Result<Range> again = parse_range(name_of(range));
    ASSERT_TRUE(again.ok()) << complaint(again);
    expect_same(*again, range);
  }
}

TEST(ParseRange, NamesAreThoseOfTheReferenceFile) {
  EXPECT_EQ(name_of(paper_ranges()[3].train), "U[-0.2,-0.1)");
  EXPECT_EQ(name_of(paper_ranges()[6].train), "U[1,2)");
  EXPECT_EQ(name_of(paper_ranges()[4].test), "U[-6,-2)+[2,6)");
}

TEST(ParseRanges, TakesNumbersAndTexts) {
  const auto ranges = parse_ranges("8, [-2,2) ,0", "");
  ASSERT_TRUE(ranges.ok()) << complaint(ranges);
  ASSERT_EQ(ranges->size(), 3u);
  for (const auto& [k, number] : {std::pair(0u, 8u), std::pair(1u, 4u), std::pair(2u, 0u)}) {
    expect_same((*ranges)[k].train, paper_ranges()[number].train);
    expect_same((*ranges)[k].test, paper_ranges()[number].test);
  }
}

TEST(ParseRanges, NewOnesTakeOneTestRangeForAllOrOneEach) {
  const auto one = parse_ranges("[3,4),6,[5,7)", "[-9,-8)+[8,9)");
  ASSERT_TRUE(one.ok()) << complaint(one);
  expect_same((*one)[0].test, {-9, -8, Range::Part{8, 9}});
  expect_same((*one)[1].test, paper_ranges()[6].test);
  expect_same((*one)[2].test, (*one)[0].test);
  const auto each = parse_ranges("[3,4),6,[5,7)", "[30,40), [50,70)");
  ASSERT_TRUE(each.ok()) << complaint(each);
  expect_same((*each)[0].test, {30, 40, {}});
  expect_same((*each)[2].test, {50, 70, {}});
}

TEST(ParseRanges, APaperRangeWrittenAsTextMayBeTestedElsewhere) {
  const auto ranges = parse_ranges("[1,2)", "[100,200)");
  ASSERT_TRUE(ranges.ok()) << complaint(ranges);
  expect_same(ranges->front().test, {100, 200, {}});
}

TEST(ParseRanges, RefusalsListTheKnownOnes) {
  for (const auto& [text, tests] : {std::pair("9", ""), std::pair("[3,4)", ""), std::pair("nonsense", ""),
                                    std::pair("", ""), std::pair("-1", ""), std::pair("0,,1", "")}) {
    const std::string message = complaint(parse_ranges(text, tests));
    for (const TaskRange& range : paper_ranges())
      EXPECT_TRUE(contains(message, name_of(range.train))) << text << ": " << message;
    EXPECT_TRUE(contains(message, "6 U[1,2)")) << message;
  }
  EXPECT_TRUE(contains(complaint(parse_ranges("[3,4)", "")), "needs --test-range"));
}

TEST(ParseRanges, RefusesWhatDoesNotFitTogether) {
  EXPECT_TRUE(contains(complaint(parse_ranges("6,[1,2)", "")), "U[1,2) is named twice"));
  EXPECT_TRUE(contains(complaint(parse_ranges("6,6", "")), "named twice"));
  EXPECT_TRUE(contains(complaint(parse_ranges("[3,4),[3,4)", "[5,6)")), "named twice"));
  EXPECT_TRUE(contains(complaint(parse_ranges("6", "[5,6)")), "only for training ranges written as text"));
  EXPECT_TRUE(contains(complaint(parse_ranges("[3,4)", "[5,6),[7,8)")), "2 ranges for 1 new training ranges"));
  EXPECT_TRUE(contains(complaint(parse_ranges("[3,4)+[5,6)", "[5,6)")), "training ranges have one part"));
  EXPECT_TRUE(contains(complaint(parse_ranges("[3,4)", "[6,5)")), "not a range"));
}

// ---- operations, modules, presets ----------------------------------------------------------------------------------

TEST(ParseOperations, TakesTheFourAndNamesThemOtherwise) {
  const auto operations = parse_operations("div, add");
  ASSERT_TRUE(operations.ok()) << complaint(operations);
  EXPECT_EQ(*operations, (std::vector{Operation::Divide, Operation::Add}));
  for (const Operation operation : all_operations) EXPECT_EQ(*parse_operation(name_of(operation)), operation);
  for (const char* text : {"", "plus", "add,", "Add", "add sub"})
    EXPECT_TRUE(contains(complaint(parse_operations(text)), "the operations are add, sub, mul and div")) << text;
  EXPECT_TRUE(contains(complaint(parse_operations("add,mul,add")), "add is named twice"));
}

TEST(ParseModules, TakesNamesAndListsThemOtherwise) {
  const auto modules = parse_modules("nau, NAC*,RealNPU");
  ASSERT_TRUE(modules.ok()) << complaint(modules);
  ASSERT_EQ(modules->size(), 3u);
  EXPECT_EQ((*modules)[0]->name, "NAU");
  EXPECT_EQ((*modules)[1]->name, "NAC*");
  EXPECT_EQ((*modules)[2]->name, "RealNPU");
  for (const char* text : {"", "NUA", "NAU,", "NAU NMU"}) {
    const std::string message = complaint(parse_modules(text));
    for (const ModuleInfo* module : all_modules()) EXPECT_TRUE(contains(message, module->name)) << message;
  }
  // However it is written.
  EXPECT_TRUE(contains(complaint(parse_modules("NAU,nau")), "named twice"));
}

TEST(MakePairs, LeavesOutWhatCannotBeLearnedAndSaysSo) {
  std::vector<std::string> skipped;
  const auto pairs = make_pairs(*parse_modules("NAU,NMU"), *parse_operations("mul,add"), skipped);
  ASSERT_TRUE(pairs.ok()) << complaint(pairs);
  EXPECT_EQ(*pairs, (std::vector{pair_of("NMU", Operation::Multiply), pair_of("NAU", Operation::Add)}));
  EXPECT_EQ(skipped, (std::vector<std::string>{"NAU mul", "NMU add"}));
  skipped.clear();
  const std::string message = complaint(make_pairs(*parse_modules("NAU"), *parse_operations("mul"), skipped));
  EXPECT_TRUE(contains(message, "none of these modules can learn any of these operations (NAU mul)")) << message;
}

TEST(Presets, AreThePapers) {
  const Task& task = **find_task("single-module");
  EXPECT_EQ(task.default_preset().name, "primer");
  struct Wanted {
    const char* preset;
    std::size_t pairs, ranges;
    int inputs;
  };
  for (const Wanted& wanted : {Wanted{"primer", 23, 9, 2}, Wanted{"quick", 2, 2, 2}, Wanted{"beyond-primer", 0, 9, 2},
                               Wanted{"beyond-primer-10", 0, 9, 10}, Wanted{"redundancy-10-inalu", 1, 9, 10},
                               Wanted{"redundancy-10-nau", 2, 9, 10}, Wanted{"redundancy-100-nau", 2, 9, 100}}) {
    SCOPED_TRACE(wanted.preset);
    Plan plan = single_module_plan("", "", "");
    plan.preset = wanted.preset;
    std::vector<std::string> left_out;
    const Result<std::vector<Cell>> cells = cells_of(plan, left_out);
    ASSERT_TRUE(cells.ok()) << complaint(cells);
    if (wanted.pairs > 0) {
      EXPECT_EQ(cells->size(), wanted.pairs * wanted.ranges);
    }
    EXPECT_EQ(cells->size() % wanted.ranges, 0u);
    for (const Cell& cell : *cells) EXPECT_EQ(problem_of(cell).inputs, wanted.inputs) << cell.name();
    // Nobody asked for what cannot be learned.
    EXPECT_TRUE(left_out.empty());
  }
  Plan plan = single_module_plan("", "", "");
  plan.preset = "beyond-primer-10";
  for (const Cell& cell : made(plan)) EXPECT_EQ(cell.iterations(), 100000) << cell.name();
  EXPECT_EQ(task.presets.size(), 7u);
  const std::string message = complaint(find_preset(task, "nonsense"));
  for (const TaskPreset& preset : task.presets) EXPECT_TRUE(contains(message, preset.name)) << message;
}

TEST(Cells, AreInTheOrderOfOperationsModulesAndRanges) {
  const Plan plan = single_module_plan("NMU,NAU", "mul,add", "8,1");
  std::vector<std::string> names;
  for (const Cell& cell : made(plan)) names.push_back(cell.name());
  EXPECT_EQ(names, (std::vector<std::string>{"NMU | mul | U[10,20)", "NMU | mul | U[-2,-1)", "NAU | add | U[10,20)",
                                             "NAU | add | U[-2,-1)"}));
}

}  // namespace
}  // namespace nalm::single_module_ranges_test
