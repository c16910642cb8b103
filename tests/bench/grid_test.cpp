// What people type to choose runs, what it means, and how the store remembers it.
#include "bench/grid.hpp"

#include "bench/single_module_recipes.hpp"
#include "words.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nalm {
namespace {

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

void expect_same(const Range& a, const Range& b) {
  EXPECT_TRUE(same_bits(a.lo, b.lo) && same_bits(a.hi, b.hi)) << name_of(a) << " and " << name_of(b);
  ASSERT_EQ(a.second.has_value(), b.second.has_value());
  if (!a.second) return;
  EXPECT_TRUE(same_bits(a.second->lo, b.second->lo) && same_bits(a.second->hi, b.second->hi))
      << name_of(a) << " and " << name_of(b);
}

std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (const Operation operation : all_operations) {
    for (const ModuleInfo* module : all_modules()) {
      const auto& can = module->operations;
      if (std::find(can.begin(), can.end(), operation) != can.end()) pairs.push_back({module, operation});
    }
  }
  return pairs;
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

// ---- seeds, operations, modules, presets ---------------------------------------------------------------------------

TEST(ParseSeeds, TakesNumbersAndRuns) {
  using Seeds = std::vector<std::uint32_t>;
  const std::pair<const char*, Seeds> cases[] = {{"3", {3}},
                                                 {"3,11", {3, 11}},
                                                 {"11,3", {11, 3}},
                                                 {"0..4,10", {0, 1, 2, 3, 4, 10}},
                                                 {" 7 .. 8 , 2 ", {7, 8, 2}},
                                                 {"5..5", {5}},
                                                 {"4294967294..4294967295", {4294967294u, 4294967295u}}};
  for (const auto& [text, wanted] : cases) {
    const auto seeds = parse_seeds(text);
    ASSERT_TRUE(seeds.ok()) << complaint(seeds);
    EXPECT_EQ(*seeds, wanted) << text;
  }
}

TEST(ParseSeeds, RefusesTheRest) {
  for (const char* text :
       {"", "a", "-1", "+1", "1.5", "3,", ",3", "4294967296", "1..", "..2", "1...2", "1..2..3", "0x1", "1 2"}) {
    EXPECT_TRUE(contains(complaint(parse_seeds(text)), "is not a seed; write --seeds 3")) << text;
  }
  EXPECT_TRUE(contains(complaint(parse_seeds("2..1")), "runs backwards"));
  EXPECT_TRUE(contains(complaint(parse_seeds("0..4,3")), "seed 3 is named twice"));
  EXPECT_TRUE(contains(complaint(parse_seeds("0..4294967295")), "more than 1000000 seeds"));
}

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
  std::vector<std::string> skipped;
  const Preset& primer = **find_preset("primer");
  const auto pairs = make_pairs(*parse_modules(primer.modules), *parse_operations(primer.operations), skipped);
  ASSERT_TRUE(pairs.ok());
  EXPECT_EQ(pairs->size(), 23u);
  EXPECT_EQ(primer.inputs, 2);
  EXPECT_EQ((*find_preset("redundancy-10-inalu"))->inputs, 10);
  EXPECT_EQ((*find_preset("redundancy-10-nau"))->inputs, 10);
  EXPECT_EQ((*find_preset("redundancy-100-nau"))->inputs, 100);
  EXPECT_EQ((*find_preset("beyond-primer"))->inputs, 2);
  EXPECT_EQ((*find_preset("beyond-primer-10"))->inputs, 10);
  EXPECT_EQ((*find_preset("beyond-primer-10"))->iterations, 100000);
  for (const Preset& preset : presets()) {
    EXPECT_TRUE(parse_modules(preset.modules).ok()) << preset.name;
    EXPECT_TRUE(parse_operations(preset.operations).ok()) << preset.name;
  }
  const std::string message = complaint(find_preset("nonsense"));
  for (const Preset& preset : presets()) EXPECT_TRUE(contains(message, preset.name)) << message;
}

// ---- runs and recipes ----------------------------------------------------------------------------------------------

TEST(Grid, OrdersRunsByRangeSeedAndPair) {
  Grid grid;
  grid.pairs = {pair_of("NAU", Operation::Subtract), pair_of("NMU", Operation::Multiply)};
  grid.ranges = {paper_ranges()[8], paper_ranges()[1]};
  grid.seeds = {7, 2};
  grid.inputs = 3;
  const std::vector<RunId> runs = runs_of(grid);
  ASSERT_EQ(runs.size(), 8u);
  EXPECT_EQ(grid.run_count(), 8u);
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_EQ(runs[k].range.train.lo, k < 4 ? 10 : -2);
    EXPECT_EQ(runs[k].seed, k / 2 % 2 == 0 ? 7u : 2u);
    EXPECT_EQ(runs[k].module, grid.pairs[k % 2].module);
    EXPECT_EQ(runs[k].operation, grid.pairs[k % 2].operation);
    EXPECT_EQ(runs[k].inputs, 3);
  }
}

TEST(ResolveRecipe, IsTheBenchmarksWithoutChanges) {
  for (const Pair& pair : all_pairs()) {
    const Recipe wanted = single_module_recipe(*pair.module, pair.operation, 2);
    EXPECT_EQ(to_json(resolve_recipe({}, pair)), to_json(wanted)) << pair.module->name;
    EXPECT_EQ(resolve_recipe({}, pair).training.iterations, pair.module->recipe().training.iterations);
  }
}

TEST(ResolveRecipe, NauTrainsLongerWithTenOrAHundredInputs) {
  for (const int inputs : {2, 3, 10, 11, 100}) {
    Grid grid;
    grid.inputs = inputs;
    const bool wide = inputs == 10 || inputs == 100;
    const Recipe nau = resolve_recipe(grid, pair_of("NAU", Operation::Add));
    EXPECT_EQ(nau.training.iterations, wide ? 100000 : 50000) << inputs;
    ASSERT_EQ(nau.layers[0].regularisers.size(), 1u);
    EXPECT_EQ(nau.layers[0].regularisers[0].start, wide ? 50000 : 20000) << inputs;
    EXPECT_EQ(nau.layers[0].regularisers[0].end, wide ? 75000 : 35000) << inputs;
    EXPECT_EQ(nau.layers[0].regularisers[0].strength, 0.01) << inputs;
    // The paper says nothing about others.
    for (const char* name : {"NMU", "iNALU", "NAC+"}) {
      const Pair pair{*find_module(name), (*find_module(name))->operations.front()};
      EXPECT_EQ(to_json(resolve_recipe(grid, pair)), to_json(pair.module->recipe())) << name;
    }
  }
}

TEST(ResolveRecipe, ItsIterationsNeverRescaleASchedule) {
  for (const int inputs : {2, 10}) {
    Grid plain, changed;
    plain.inputs = changed.inputs = inputs;
    changed.iterations = 123;
    for (const Pair& pair : all_pairs()) {
      Recipe wanted = resolve_recipe(plain, pair);
      wanted.training.iterations = 123;
      EXPECT_EQ(to_json(resolve_recipe(changed, pair)), to_json(wanted)) << pair.module->name;
    }
  }
}

TEST(ResolveRecipe, TakesTheLearningRateOfTheGrid) {
  Grid grid;
  grid.learning_rate = 0.125;
  for (const Pair& pair : all_pairs()) {
    Recipe wanted = single_module_recipe(*pair.module, pair.operation, 2);
    EXPECT_NE(wanted.training.optimiser.learning_rate(), 0.125);
    wanted.training.optimiser.set_learning_rate(0.125);
    const Recipe recipe = resolve_recipe(grid, pair);
    EXPECT_EQ(recipe.training.optimiser.learning_rate(), 0.125);
    EXPECT_EQ(to_json(recipe), to_json(wanted));
  }
}

// ---- as text -------------------------------------------------------------------------------------------------------

void expect_same(const Recipe& a, const Recipe& b) {
  EXPECT_EQ(a.training.iterations, b.training.iterations);
  EXPECT_EQ(a.training.batch, b.training.batch);
  ASSERT_EQ(a.training.optimiser.kind, b.training.optimiser.kind);
  if (a.training.optimiser.kind == Optimiser::Kind::Adam) {
    const Adam &x = a.training.optimiser.adam, &y = b.training.optimiser.adam;
    EXPECT_TRUE(same_bits(x.learning_rate, y.learning_rate) && same_bits(x.beta1, y.beta1));
    EXPECT_TRUE(same_bits(x.beta2, y.beta2) && same_bits(x.epsilon, y.epsilon));
  } else {
    const RmsProp &x = a.training.optimiser.rms_prop, &y = b.training.optimiser.rms_prop;
    EXPECT_TRUE(same_bits(x.learning_rate, y.learning_rate) && same_bits(x.decay, y.decay));
    EXPECT_TRUE(same_bits(x.epsilon, y.epsilon) && same_bits(x.first_accumulator, y.first_accumulator));
    EXPECT_EQ(x.epsilon_inside_root, y.epsilon_inside_root);
  }
  ASSERT_EQ(a.layers[0].regularisers.size(), b.layers[0].regularisers.size());
  for (std::size_t k = 0; k < a.layers[0].regularisers.size(); ++k) {
    const Regulariser &x = a.layers[0].regularisers[k], &y = b.layers[0].regularisers[k];
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.parameter, y.parameter);
    // What the kind uses: its factor, from before the start until long after the end.
    for (const long e : {0L, 1L, 9999L, 10001L, 20001L, 30000L, 60000L, 1000000L})
      EXPECT_TRUE(same_bits(x.coefficient(e), y.coefficient(e))) << e;
  }
  EXPECT_EQ(a.training.clip_value, b.training.clip_value);
  EXPECT_EQ(a.training.clip_norm, b.training.clip_norm);
  EXPECT_EQ(a.training.loss.kind, b.training.loss.kind);
  EXPECT_EQ(a.training.loss.limit, b.training.loss.limit);
  ASSERT_EQ(a.training.noise.has_value(), b.training.noise.has_value());
  if (a.training.noise) {
    EXPECT_EQ(a.training.noise->lo, b.training.noise->lo);
    EXPECT_EQ(a.training.noise->hi, b.training.noise->hi);
    EXPECT_EQ(a.training.noise->batch_adaptive, b.training.noise->batch_adaptive);
  }
  ASSERT_EQ(a.training.restarts.has_value(), b.training.restarts.has_value());
  if (a.training.restarts) {
    EXPECT_EQ(a.training.restarts->count, b.training.restarts->count);
    EXPECT_EQ(a.training.restarts->every, b.training.restarts->every);
  }
  ASSERT_EQ(a.training.cool_down.has_value(), b.training.cool_down.has_value());
  if (a.training.cool_down) {
    EXPECT_EQ(a.training.cool_down->start, b.training.cool_down->start);
    EXPECT_EQ(a.training.cool_down->end, b.training.cool_down->end);
  }
  ASSERT_EQ(a.layers[0].starts.size(), b.layers[0].starts.size());
  for (std::size_t k = 0; k < a.layers[0].starts.size(); ++k) {
    EXPECT_EQ(a.layers[0].starts[k].parameter, b.layers[0].starts[k].parameter);
    EXPECT_TRUE(same_bits(a.layers[0].starts[k].lo, b.layers[0].starts[k].lo) &&
                same_bits(a.layers[0].starts[k].hi, b.layers[0].starts[k].hi));
  }
  ASSERT_EQ(a.training.reinitialise.has_value(), b.training.reinitialise.has_value());
  if (!a.training.reinitialise) return;
  EXPECT_EQ(a.training.reinitialise->every, b.training.reinitialise->every);
  EXPECT_EQ(a.training.reinitialise->more_than, b.training.reinitialise->more_than);
  EXPECT_EQ(a.training.reinitialise->error_above, b.training.reinitialise->error_above);
}

TEST(RecipeAsJson, ReadsBackForEveryModuleAndOperation) {
  for (const Pair& pair : all_pairs()) {
    SCOPED_TRACE(std::string(pair.module->name) + " " + std::string(name_of(pair.operation)));
    const Recipe recipe = single_module_recipe(*pair.module, pair.operation, 2);
    const Result<Recipe> again = recipe_from_json(to_json(recipe));
    ASSERT_TRUE(again.ok()) << complaint(again);
    expect_same(*again, recipe);
    EXPECT_EQ(to_json(*again), to_json(recipe));
  }
}

TEST(RecipeAsJson, ReadsBackWithEveryPart) {
  Recipe recipe;
  recipe.training.optimiser = RmsProp{0.1 + 0.2, 0.95, 1e-10, 1, true};
  recipe.layers[0].regularisers = {Regulariser::sparsity(0.01, 20000, 35000, "W"), Regulariser::saturate(0.05, 10000),
                                   Regulariser::l1(1e-9, 1e-7, 3, 5000), Regulariser::unit(1, 40000, 50000, "W_re"),
                                   Regulariser::grow(10, 20000, 35000)};
  recipe.training.loss = Loss::huber(1.0 / 7);
  recipe.training.noise = Noise{0.1, 0.5};
  recipe.training.restarts = Restarts{8, 5000};
  recipe.training.cool_down = CoolDown{30000, 45000};
  recipe.layers[0].starts = {{"W", -1.0 / 3, 0.25}, {"g", 0, 1}};
  recipe.training.clip_value = 0.1;
  recipe.training.clip_norm = 1.0 / 3;
  recipe.training.reinitialise = Reinitialise{7, 77, 0.7};
  recipe.training.iterations = 3000000000;
  recipe.training.batch = 31;
  recipe.training.decay = Decay{0.5, 700};
  recipe.training.phases = Phases{"g", 20, 7};
  const Result<Recipe> again = recipe_from_json(to_json(recipe));
  ASSERT_TRUE(again.ok()) << complaint(again);
  expect_same(*again, recipe);
  EXPECT_EQ(to_json(*again), to_json(recipe));
  // One line for each part, and for each regulariser.
  EXPECT_EQ(recipe_in_words(recipe).size(), 18u);
}

TEST(RecipeAsJson, ReadsBackWithSeveralLayers) {
  Recipe recipe;
  recipe.layers = {{{Regulariser::sparsity(1, 2, 3)}, {}},
                   {{}, {{"W", 0.5, 2, StartChange::Kind::Normal}, {"b", 0.25, 0, StartChange::Kind::Scaled}}}};
  const Result<Recipe> again = recipe_from_json(to_json(recipe));
  ASSERT_TRUE(again.ok()) << complaint(again);
  EXPECT_EQ(to_json(*again), to_json(recipe));
  ASSERT_EQ(again->layers.size(), 2u);
  EXPECT_EQ(again->layers[1].starts[0].kind, StartChange::Kind::Normal);
}

TEST(RecipeInWords, SaysWhatAStartIs) {
  Recipe recipe;
  recipe.layers[0].starts = {{"W", 0.5, 2, StartChange::Kind::Normal}};
  EXPECT_TRUE(contains(fmt::format("{}", fmt::join(recipe_in_words(recipe), "\n")), "starts: W mean 0.5, deviation 2"));
}

TEST(ChangeRecipe, ReplacesWhatIsNamedAndNothingElse) {
  const Recipe own = (*find_module("NMRU"))->recipe();
  Recipe wanted = own;
  wanted.training.optimiser.adam.learning_rate = 0.125;
  wanted.training.clip_norm.reset();
  wanted.training.loss = Loss::huber(2);
  wanted.training.restarts = Restarts{4, 2000};
  wanted.layers[0].starts = {{"W", 0, 0.25}};
  const Result<Recipe> changed =
      change_recipe(own,
                    R"({"optimiser": {"learning_rate": 0.125}, "clip_norm": null, "loss": {"kind": "huber", "limit": 2},
          "restarts": {"count": 4, "every": 2000}, "starts": {"W": [0, 0.25]}})");
  ASSERT_TRUE(changed.ok()) << complaint(changed);
  expect_same(*changed, wanted);
  expect_same(*change_recipe(own, "{}"), own);
  EXPECT_TRUE(change_recipe(own, R"({"regularisers": []})")->layers[0].regularisers.empty());
}

TEST(ChangeRecipe, SaysWhatIsWrong) {
  const Recipe own = (*find_module("NMRU"))->recipe();
  const auto refusal = [&](std::string_view text) { return complaint(change_recipe(own, text)); };
  EXPECT_TRUE(contains(refusal(R"({"clip": 1})"), "\"clip\" is not known there"));
  EXPECT_TRUE(contains(refusal(R"({"optimiser": {"rate": 1}})"), "\"optimiser.rate\" is not known there"));
  EXPECT_TRUE(contains(refusal(R"({"loss": {"kind": "cubic"}})"),
                       R"(loss.kind must be one of squared, huber, relative, log, absolute, not "cubic")"));
  EXPECT_TRUE(contains(refusal(R"({"restarts": {"count": 4, "every": 1500}})"), "a multiple of 1000"));
  EXPECT_TRUE(contains(refusal(R"({"optimiser": {"learning_rate": 0}})"), "learning_rate must be above 0"));
  EXPECT_TRUE(contains(refusal(R"({"noise": {"lo": 3, "hi": 1}})"), "noise.lo must not be above noise.hi"));
  EXPECT_TRUE(contains(refusal(R"({"batch": 0})"), "batch must be"));
  EXPECT_TRUE(contains(refusal(R"({"starts": {"W": [1, 0]}})"), "starts.W must be [low, high]"));
  // Numbers that would be rounded, or that no optimiser can use, and texts of kinds without their numbers.
  EXPECT_TRUE(contains(refusal(R"({"batch": 1.9})"), "batch must be a whole number from 1 to 1000000"));
  EXPECT_TRUE(contains(refusal(R"({"optimiser": {"beta1": 2}})"), "optimiser.beta1 must be from 0 to below 1"));
  EXPECT_TRUE(
      contains(refusal(R"({"reinitialise": {"every": 0}})"), "reinitialise.every must be a whole number from 1"));
  EXPECT_TRUE(contains(refusal(R"({"regularisers": [{"kind": "l1"}]})"), "regularisers.0.strength must be above 0"));
  EXPECT_TRUE(contains(refusal(R"({"loss": {"kind": "log", "limit": 1}})"), "\"loss.limit\" is not known there"));
  EXPECT_TRUE(contains(refusal(R"({"layers": [{}, {}]})"), "there are 1 layers"));
  EXPECT_EQ(change_recipe(own, R"({"loss": {"kind": "huber"}})")->training.loss.limit, 1);
  EXPECT_EQ(change_recipe(own, R"({"loss": {"kind": "squared"}})")->training.loss.kind, Loss::Kind::Squared);
  EXPECT_EQ(change_recipe(own, R"({"batch": 1e2})")->training.batch, 100);
  for (const char* text :
       {"", "[]", "3", "{", R"({"regularisers": 3})", R"({"iterations": "many"})", R"({"starts": {"W": 1}})"})
    EXPECT_FALSE(change_recipe(own, text).ok()) << text;
}

TEST(ChangeRecipe, DeepNestingIsRefused) {
  // A reader that recurses would overflow the stack, here and when a store is read.
  const std::string deep = R"({"recipe_changes":)" + std::string(200000, '[') + std::string(200000, ']') + "}";
  EXPECT_TRUE(contains(complaint(change_recipe({}, deep)), "nested more than 64 deep"));
  EXPECT_TRUE(contains(complaint(recipe_from_json(deep)), "nested more than 64 deep"));
  EXPECT_TRUE(contains(complaint(grid_from_json(deep)), "nested more than 64 deep"));
}

TEST(ResolveRecipe, TakesTheChangesOfTheGrid) {
  Grid grid;
  grid.inputs = 10;
  grid.recipe_changes = R"({"clip_norm": 0.25})";
  for (const Pair& pair : all_pairs()) {
    Recipe wanted = single_module_recipe(*pair.module, pair.operation, 10);
    wanted.training.clip_norm = 0.25;
    EXPECT_EQ(to_json(resolve_recipe(grid, pair)), to_json(wanted)) << pair.module->name;
  }
}

TEST(RecipeAsJson, RefusesDamagedText) {
  const std::string good = to_json(pair_of("iNALU", Operation::Add).module->recipe());
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_TRUE(contains(complaint(recipe_from_json(good.substr(0, size))), "the stored recipe cannot be read"));
  for (const char* text : {"null", "[]", "3", "{}", R"({"iterations":"many","batch":128})"})
    EXPECT_FALSE(recipe_from_json(text).ok()) << text;
}

Grid full_grid() {
  Grid grid;
  grid.pairs = all_pairs();
  grid.ranges = {paper_ranges().begin(), paper_ranges().end()};
  grid.ranges.push_back({{0.1 + 0.2, 1.0 / 3 + 1, {}}, {-6, -2, Range::Part{2, 6}}});
  grid.seeds = {0, 4294967295u, 17};
  grid.inputs = 100;
  grid.log_every = 7;
  return grid;
}

void expect_same(const Grid& a, const Grid& b) {
  EXPECT_EQ(a.pairs, b.pairs);
  EXPECT_EQ(a.seeds, b.seeds);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.log_every, b.log_every);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.learning_rate, b.learning_rate);
  ASSERT_EQ(a.ranges.size(), b.ranges.size());
  for (std::size_t k = 0; k < a.ranges.size(); ++k) {
    expect_same(a.ranges[k].train, b.ranges[k].train);
    expect_same(a.ranges[k].test, b.ranges[k].test);
  }
}

TEST(GridAsJson, ReadsBack) {
  Grid grid = full_grid();
  for (const bool changed : {false, true}) {
    if (changed) grid.iterations = 0, grid.learning_rate = 0.1 + 0.2;
    const Result<Grid> again = grid_from_json(to_json(grid));
    ASSERT_TRUE(again.ok()) << complaint(again);
    expect_same(*again, grid);
    EXPECT_EQ(to_json(*again), to_json(grid));
  }
}

TEST(GridAsJson, RefusesDamagedText) {
  const std::string good = to_json(full_grid());
  for (std::size_t size = 0; size < good.size(); size += 7)
    EXPECT_TRUE(contains(complaint(grid_from_json(good.substr(0, size))), "the stored settings cannot be read"));
  // Every part, missing or of the wrong kind.
  const nlohmann::json whole = nlohmann::json::parse(good);
  for (const auto& [name, value] : whole.items()) {
    nlohmann::json damaged = whole;
    damaged.erase(name);
    EXPECT_FALSE(grid_from_json(damaged.dump()).ok()) << name;
    damaged[name] = "nonsense";
    EXPECT_FALSE(grid_from_json(damaged.dump()).ok()) << name;
  }
  nlohmann::json other = whole;
  other["pairs"][0]["module"] = "NUA";
  EXPECT_TRUE(contains(complaint(grid_from_json(other.dump())), "\"NUA\" is not a module"));
  other = whole;
  other["ranges"][0]["train"] = "U[2,1)";
  EXPECT_TRUE(contains(complaint(grid_from_json(other.dump())), "is not a range"));
}

}  // namespace
}  // namespace nalm
