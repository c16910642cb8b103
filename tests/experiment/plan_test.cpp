// What people ask for: seeds, names of cells, changes; how a store remembers it, and what nobody may ask for.
#include "experiment/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/cells.hpp"
#include "train/recipe_fields.hpp"
#include "words.hpp"

namespace nalm::plan_test {
namespace {

using test::plan_of;

// ---- seeds ---------------------------------------------------------------------------------------------------------

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

// ---- cells ---------------------------------------------------------------------------------------------------------

TEST(CellsOf, NamesSelectAndWrongNamesAreAnswered) {
  Plan plan = plan_of("arithmetic-dataset", "full");
  EXPECT_EQ(cells_of(plan)->size(), 4u);
  plan.models = "NAU, NAC+";
  plan.operations = "sub";
  plan.settings = "U[1,2)";  // one name, in spite of its comma
  const Result<std::vector<Cell>> cells = cells_of(plan);
  ASSERT_TRUE(cells.ok()) << complaint(cells);
  ASSERT_EQ(cells->size(), 2u);
  EXPECT_EQ((*cells)[1].name(), "NAC+ | sub | U[1,2)");

  plan.models = "NUA";
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "no model \"NUA\"")) << complaint(cells_of(plan));
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "NAU, NAC+")) << complaint(cells_of(plan));
  plan.models = "";
  plan.operations = "sub,plus";
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "no operation \"plus\"")) << complaint(cells_of(plan));
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "add, sub")) << complaint(cells_of(plan));
  plan.operations = "";
  plan.settings = "U[7,8)";
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "no setting \"U[7,8)\"")) << complaint(cells_of(plan));
  // Each name is looked for among what is left.
  plan.preset = "product";
  plan.models = "NMU";
  plan.operations = "add";
  plan.settings = "";
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "no operation \"add\" for these models; there is: mul."))
      << complaint(cells_of(plan));
  plan.preset = "quickest";
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "no preset \"quickest\"")) << complaint(cells_of(plan));
}

TEST(CellsOf, NamesMayHaveCommas) {
  Plan plan = plan_of("sir-discovery", "full");
  const std::pair<const char*, std::size_t> settings[] = {{"hidden 6, L1 0.1", 1},
                                                          {"hidden 9,L1 0, hidden 6, L1 0.1", 2}};
  for (const auto& [names, cells] : settings) {
    plan.settings = names;
    ASSERT_TRUE(cells_of(plan).ok()) << complaint(cells_of(plan));
    EXPECT_EQ(cells_of(plan)->size(), cells) << names;
  }
  plan.settings = "hidden 6";
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "no setting \"hidden 6\"")) << complaint(cells_of(plan));
  // A name that is a list of other names does not take their place.
  plan = plan_of("CalcNet", "quick", "NAU, NMU, NMRU, NRU-power");
  ASSERT_TRUE(cells_of(plan).ok()) << complaint(cells_of(plan));
  EXPECT_EQ(cells_of(plan)->size(), 6u);
  plan = plan_of("nlrl-functions", "quick", "", "", "wide");
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "has no settings to choose from")) << complaint(cells_of(plan));
}

TEST(CellsOf, TheSingleModuleTaskLeavesOutWhatCannotBeLearnedAndSaysSo) {
  Plan plan = plan_of("single-module", "primer", "NAU,NMU", "mul,add", "8,1");
  std::vector<std::string> left_out;
  const Result<std::vector<Cell>> cells = cells_of(plan, left_out);
  ASSERT_TRUE(cells.ok()) << complaint(cells);
  std::vector<std::string> names;
  for (const Cell& cell : *cells) names.push_back(cell.name());
  EXPECT_EQ(names, (std::vector<std::string>{"NMU | mul | U[10,20)", "NMU | mul | U[-2,-1)", "NAU | add | U[10,20)",
                                             "NAU | add | U[-2,-1)"}));
  EXPECT_EQ(left_out, (std::vector<std::string>{"NAU mul", "NMU add"}));
  // What nobody asked for by name is not missed.
  left_out.clear();
  plan = plan_of("single-module", "primer");
  EXPECT_EQ(cells_of(plan, left_out)->size(), 207u);
  EXPECT_TRUE(left_out.empty());
}

// Division by numbers around 0 has no threshold: such a cell is never made.
TEST(CellsOf, ATestRangeThatTouchesZeroIsRefusedForDivision) {
  Plan plan = plan_of("single-module", "primer", "RealNPU", "div", "[1,2)");
  plan.options["test-range"] = "[0,6)";
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "touches 0")) << complaint(cells_of(plan));
}

TEST(CellsOf, ChangesReachEveryRecipe) {
  Plan plan = plan_of("single-module", "primer", "", "", "6");
  const std::vector<Cell> plain = *cells_of(plan);
  plan.recipe = R"({"clip_norm": 0.25})";
  plan.iterations = 123;
  plan.learning_rate = 0.125;
  plan.log_every = 7;
  const Result<std::vector<Cell>> changed = cells_of(plan);
  ASSERT_TRUE(changed.ok()) << complaint(changed);
  ASSERT_EQ(changed->size(), plain.size());
  for (std::size_t c = 0; c < plain.size(); ++c) {
    Recipe wanted = plain[c].recipe;  // no schedule is rescaled
    wanted.training.clip_norm = 0.25;
    wanted.training.iterations = 123;
    wanted.training.optimiser.set_learning_rate(0.125);
    EXPECT_EQ(to_json((*changed)[c].recipe), to_json(wanted)) << plain[c].name();
    EXPECT_EQ((*changed)[c].log_every, 7);
  }
  plan.recipe = R"({"clip": 1})";
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "\"clip\" is not known there")) << complaint(cells_of(plan));
}

TEST(CellsOf, ARunThatIsMoreThanANetworkIsToldWhatItCanUse) {
  Plan plan = plan_of("sir-discovery", "quick");
  plan.iterations = 11;
  plan.learning_rate = 0.5;
  const Result<std::vector<Cell>> cells = cells_of(plan);
  ASSERT_TRUE(cells.ok()) << complaint(cells);
  for (const Cell& cell : *cells) {
    EXPECT_EQ(cell.own_iterations, 11);
    EXPECT_EQ(cell.own_learning_rate, 0.5);
  }
  plan.recipe = R"({"clip_norm": 1})";
  EXPECT_TRUE(contains(complaint(cells_of(plan)), "--recipe changes how networks are trained"))
      << complaint(cells_of(plan));
}

// ---- what nobody may ask for ---------------------------------------------------------------------------------------

TEST(CheckPlan, RefusesWhatNoRunCanHave) {
  const auto refusal = [](auto change) {
    Plan plan = plan_of("arithmetic-dataset", "full");
    change(plan);
    EXPECT_EQ(complaint(cells_of(plan)), complaint(check(plan)));
    return complaint(check(plan));
  };
  EXPECT_EQ(refusal([](Plan&) {}), "");
  EXPECT_EQ(refusal([](Plan& p) { p.iterations = 0, p.log_every = 1, p.learning_rate = 0; }), "");
  EXPECT_TRUE(contains(refusal([](Plan& p) { p.seeds.clear(); }), "at least one seed"));
  EXPECT_TRUE(contains(refusal([](Plan& p) { p.seeds = {1, 2, 1}; }), "a seed is named twice"));
  EXPECT_TRUE(contains(refusal([](Plan& p) { p.seeds.assign(1'000'001, 0); }), "at most 1000000 seeds"));
  for (const long iterations : {-5L, -1L, 1'000'000'001L})
    EXPECT_TRUE(contains(refusal([&](Plan& p) { p.iterations = iterations; }), "--iterations must be from 0"));
  for (const long log_every : {0L, -1L, 1'000'000'001L})
    EXPECT_TRUE(contains(refusal([&](Plan& p) { p.log_every = log_every; }), "--log-every must be from 1"));
  for (const double rate : {-0.1, 1e6, std::nan(""), HUGE_VAL})
    EXPECT_TRUE(contains(refusal([&](Plan& p) { p.learning_rate = rate; }), "--learning-rate must be from 0"));
  EXPECT_EQ(refusal([](Plan& p) { p.options["inputs"] = "10"; }),
            "--inputs does not belong to the task arithmetic-dataset but to single-module; leave it away.");
  EXPECT_TRUE(contains(refusal([](Plan& p) { p.options["colour"] = "red"; }), "--colour does not belong"));
}

TEST(CheckPlan, TheNumberOfInputsHasALimit) {
  for (const char* inputs : {"1", "0", "-5", "10001", "1000000000", "99999999999999999999", "2.5", "two", " 2"}) {
    Plan plan = plan_of("single-module", "primer", "NAU", "add", "6");
    plan.options["inputs"] = inputs;
    EXPECT_TRUE(contains(complaint(cells_of(plan)), "--inputs must be a whole number from 2 to 10000")) << inputs;
  }
}

// ---- as text -------------------------------------------------------------------------------------------------------

Plan full_plan() {
  Plan plan = plan_of("single-module", "primer", "NAU,RealNPU", "add,div", "6,[3,4)");
  plan.seeds = {0, 4294967295u, 17};
  plan.options = {{"inputs", "100"}, {"test-range", "[-6,-2)+[2,6)"}};
  return plan;
}

void expect_same(const Plan& a, const Plan& b) {
  EXPECT_EQ(a.task, b.task);
  EXPECT_EQ(a.preset, b.preset);
  EXPECT_EQ(a.models, b.models);
  EXPECT_EQ(a.operations, b.operations);
  EXPECT_EQ(a.settings, b.settings);
  EXPECT_EQ(a.seeds, b.seeds);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.log_every, b.log_every);
  EXPECT_EQ(a.learning_rate, b.learning_rate);
  EXPECT_EQ(a.recipe, b.recipe);
  EXPECT_EQ(a.options, b.options);
}

TEST(PlanAsJson, ReadsBack) {
  Plan plan = full_plan();
  for (const bool changed : {false, true}) {
    if (changed) {
      plan.iterations = 0;
      plan.log_every = 7;
      plan.learning_rate = 0.1 + 0.2;
      plan.recipe = R"({"loss": {"kind": "huber"}})";
    }
    const Result<Plan> again = plan_from_json(to_json(plan));
    ASSERT_TRUE(again.ok()) << complaint(again);
    expect_same(*again, plan);
    EXPECT_EQ(to_json(*again), to_json(plan));
  }
}

TEST(PlanAsJson, RefusesDamagedText) {
  Plan plan = full_plan();
  plan.iterations = 5, plan.log_every = 5, plan.learning_rate = 0.5;
  const std::string good = to_json(plan);
  for (std::size_t size = 0; size < good.size(); size += 7)
    EXPECT_EQ(complaint(plan_from_json(good.substr(0, size))),
              "the stored plan ends in the middle; it seems to be truncated.");
  // Every part, missing or of the wrong kind.
  const nlohmann::json whole = nlohmann::json::parse(good);
  for (const auto& [name, value] : whole.items()) {
    nlohmann::json damaged = whole;
    damaged.erase(name);
    EXPECT_TRUE(contains(complaint(plan_from_json(damaged.dump())), "the stored plan cannot be read")) << name;
    damaged[name] = nlohmann::json::array({"nonsense"});
    EXPECT_TRUE(contains(complaint(plan_from_json(damaged.dump())), "the stored plan cannot be read")) << name;
  }
  for (const char* text : {"null", "[]", "3", "{}"}) EXPECT_FALSE(plan_from_json(text).ok()) << text;
  nlohmann::json other = whole;
  other["task"] = "juggling";
  EXPECT_TRUE(contains(complaint(plan_from_json(other.dump())), "there is no task \"juggling\""));
}

// Names and ranges are the task's to read, so a plan with wrong ones is refused as soon as its cells are made.
TEST(PlanAsJson, WrongNamesAreRefusedWithTheCells) {
  nlohmann::json other = nlohmann::json::parse(to_json(full_plan()));
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"models", "NUA", "\"NUA\" is not a module"},
      {"settings", "U[2,1)", "is not a range"},
      {"preset", "nonsense", "no preset \"nonsense\""},
  };
  for (const auto& [part, value, words] : cases) {
    nlohmann::json damaged = other;
    damaged[part] = value;
    const Result<Plan> plan = plan_from_json(damaged.dump());
    ASSERT_TRUE(plan.ok()) << complaint(plan);
    EXPECT_TRUE(contains(complaint(cells_of(*plan)), words)) << complaint(cells_of(*plan));
  }
}

TEST(PlanAsJson, WhatNobodyMayAskForIsRefusedFromAFileToo) {
  const auto refusal = [](const char* part, const nlohmann::json& value) {
    nlohmann::json damaged = nlohmann::json::parse(to_json(full_plan()));
    damaged[part] = value;
    return complaint(plan_from_json(damaged.dump()));
  };
  EXPECT_TRUE(contains(refusal("log_every", 0), "--log-every must be from 1"));
  EXPECT_TRUE(contains(refusal("iterations", -5), "--iterations must be from 0"));
  EXPECT_TRUE(contains(refusal("seeds", nlohmann::json::array()), "at least one seed"));
  EXPECT_TRUE(contains(refusal("options", {{"colour", "red"}}), "--colour does not belong"));
}

TEST(PlanAsJson, DeepNestingIsRefused) {
  // A reader that recurses would overflow the stack.
  const std::string brackets = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_EQ(complaint(plan_from_json(R"({"recipe":)" + brackets + "}")),
            "the stored plan has brackets nested more than 64 deep, which nothing here needs.");
  // As a text in the text they are not read before the recipes are made.
  Plan plan = full_plan();
  plan.recipe = R"({"regularisers":)" + brackets + "}";
  const Result<Plan> again = plan_from_json(to_json(plan));
  ASSERT_TRUE(again.ok()) << complaint(again);
  EXPECT_TRUE(contains(complaint(cells_of(*again)), "nested more than 64 deep")) << complaint(cells_of(*again));
}

// ---- in words ------------------------------------------------------------------------------------------------------

TEST(CommandOf, MakesTheSameAgain) {
  EXPECT_EQ(command_of(full_plan()),
            "nalm bench --modules NAU,RealNPU --operations add,div --settings \"6,[3,4)\" --inputs 100 --test-range "
            "\"[-6,-2)+[2,6)\" --seeds 0,4294967295,17");
  Plan plan = plan_of("single-module", "primer");
  plan.seeds.clear();
  for (std::uint32_t seed = 0; seed < 25; ++seed) plan.seeds.push_back(seed);
  EXPECT_EQ(command_of(plan), "nalm bench");
  EXPECT_TRUE(plan.changes().empty());
  plan.seeds = {0, 1, 2, 7};
  plan.iterations = 100;
  plan.learning_rate = 0.5;
  plan.log_every = 10;
  plan.recipe = R"({"clip_norm": 1})";
  EXPECT_EQ(command_of(plan),
            "nalm bench --seeds 0..2,7 --iterations 100 --log-every 10 --learning-rate 0.5 --recipe "
            "'{\"clip_norm\": 1}'");
  EXPECT_EQ(plan.changes().size(), 4u);
  EXPECT_TRUE(command_of(plan_of("arithmetic-dataset", "product"))
                  .starts_with("nalm bench --task arithmetic-dataset "
                               "--preset product"));
}

}  // namespace
}  // namespace nalm::plan_test
