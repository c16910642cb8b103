// Every kind of failure, on hand-made runs of every module of the task.
#include "tasks/single_module/failures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "experiment/summary.hpp"
#include "tasks/single_module_plan.hpp"

namespace nalm::single_module_failures_test {
namespace {

using Kind = FailureKind;
using Values = std::vector<double>;

constexpr double open = 20, shut = -20;  // raw values whose sigmoid is 1 and 0

// The raw value whose tanh is w.
double raw(double w) { return std::abs(w) < 1 ? std::atanh(w) : 20 * w; }

// W_hat and M_hat for weights tanh(W_hat) sigmoid(M_hat).
Values squashed(const Values& W) {
  Values result;
  for (const double w : W) result.push_back(raw(w));
  result.insert(result.end(), W.size(), open);
  return result;
}

Values joined(const std::vector<Values>& parts) {
  Values result;
  for (const Values& part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}

// A run of seed 0 that was made by hand.
struct HandMade {
  Cell cell;
  RunRecord record;

  void set_test_errors(double value) {
    for (std::vector<double>& row : record.values) row[single_module::test_mse] = value;
  }
};

// Some rows with these parameters and validation errors. The range is a number of the paper's list.
HandMade run_of(std::string_view module, Operation operation, const std::vector<Values>& rows, const Values& validation,
                int inputs = 2, const std::string& range = "6") {
  Plan plan = single_module_plan(std::string(module), std::string(name_of(operation)), range);
  plan.options["inputs"] = std::to_string(inputs);
  HandMade run{made(plan).front(), {}};
  run.cell.recipe = (*find_module(module))->recipe();
  for (std::size_t row = 0; row < validation.size(); ++row) {
    run.record.steps.push_back(static_cast<long>(10000 * row));
    run.record.values.push_back({validation[row], validation[row], 0});
    run.record.parameters.push_back(rows[std::min(row, rows.size() - 1)]);
  }
  return run;
}

const Values quiet{9, 1, 1, 1, 1, 1}, falling{9, 6, 5, 4, 3, 2};

Failure diagnosed(const HandMade& run) {
  const Result<RunResult> result = judge(run.cell, run.record, 0);
  EXPECT_TRUE(result.ok()) << complaint(result);
  EXPECT_FALSE(result->success);
  return diagnose(run.cell, run.record, *result);
}

// ---- weights, for every module -------------------------------------------------------------------------------------

struct Case {
  std::string_view module;
  Operation operation;
  std::string weights;                               // their name
  std::function<Values(double, double)> parameters;  // for two weights, everything else as it should be

  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.module << " " << name_of(c.operation);
  }
  double second_target() const { return operation == Operation::Subtract || operation == Operation::Divide ? -1 : 1; }
  std::string wrong(const std::string& value) const {
    return weights + "[2] = " + value + " instead of " + (second_target() < 0 ? "-1" : "1");
  }
};

Values golden(const Values& W) {
  Values result = squashed(W);
  for (double& value : result) value /= std::log((1 + std::sqrt(5.0)) / 2);
  return result;
}

const std::vector<Case> cases{
    {"NAC+", Operation::Add, "W",
     [](double a, double b) {
       return squashed({a, b});
     }},
    {"NAC+", Operation::Subtract, "W",
     [](double a, double b) {
       return squashed({a, b});
     }},
    {"NAC*", Operation::Divide, "W",
     [](double a, double b) {
       return squashed({a, b});
     }},
    {"NALU", Operation::Subtract, "W",
     [](double a, double b) {
       return joined({squashed({a, b}), {open, open}});
     }},
    {"NALU", Operation::Multiply, "W",
     [](double a, double b) {
       return joined({squashed({a, b}), {shut, shut}});
     }},
    {"G-NALU", Operation::Add, "W",
     [](double a, double b) {
       return joined({golden({a, b}), {open, open}});
     }},
    // The other path's weights are nowhere near anything.
    {"iNALU", Operation::Add, "WA",
     [](double a, double b) {
       return joined({squashed({a, b}), squashed({-0.4, 0.6}), {open}});
     }},
    {"iNALU", Operation::Divide, "WM",
     [](double a, double b) {
       return joined({squashed({-0.4, 0.6}), squashed({a, b}), {shut}});
     }},
    {"NAU", Operation::Subtract, "W",
     [](double a, double b) {
       return Values{a, b};
     }},
    {"NMU", Operation::Multiply, "W",
     [](double a, double b) {
       return Values{a, b};
     }},
    {"NPU", Operation::Multiply, "W_re", [](double a, double b) { return Values{a, b, 0, 0, 1, 1}; }},
    {"NPU", Operation::Divide, "W_re", [](double a, double b) { return Values{a, b, 0, 0, 1.3, 1}; }},
    {"RealNPU", Operation::Divide, "W_re",
     [](double a, double b) {
       return Values{a, b, 1, 1};
     }},
};

class Failures : public testing::TestWithParam<Case> {};

TEST_P(Failures, WrongWeights) {
  const Case& c = GetParam();
  const Failure failure = diagnosed(run_of(c.module, c.operation, {c.parameters(1, 0.02)}, quiet));
  EXPECT_EQ(failure.kind, name_of(Kind::WrongWeights)) << failure.detail;
  EXPECT_EQ(failure.detail, c.wrong("0.02"));
}

TEST_P(Failures, Stuck) {
  const Case& c = GetParam();
  const Failure failure = diagnosed(run_of(c.module, c.operation, {c.parameters(0.8, c.second_target())}, quiet));
  EXPECT_EQ(failure.kind, name_of(Kind::Stuck)) << failure.detail;
  EXPECT_EQ(failure.detail, c.weights + "[1] = 0.8 instead of 1, and the validation error no longer changes");
}

TEST_P(Failures, NotConverged) {
  const Case& c = GetParam();
  const Failure failure = diagnosed(run_of(c.module, c.operation, {c.parameters(0.8, c.second_target())}, falling));
  EXPECT_EQ(failure.kind, name_of(Kind::NotConverged)) << failure.detail;
}

TEST_P(Failures, Imprecise) {
  const Case& c = GetParam();
  for (const Values& validation : {quiet, falling}) {
    const Failure failure =
        diagnosed(run_of(c.module, c.operation, {c.parameters(0.99, c.second_target())}, validation));
    EXPECT_EQ(failure.kind, name_of(Kind::Imprecise)) << failure.detail;
    EXPECT_NE(failure.detail.find("within 1.0e-02"), std::string::npos) << failure.detail;
  }
}

TEST_P(Failures, NotANumber) {
  const Case& c = GetParam();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Failure lost = diagnosed(run_of(c.module, c.operation, {c.parameters(0.8, 0)}, {9, 8, 7, nan, nan}));
  EXPECT_EQ(lost.kind, name_of(Kind::NotANumber));
  EXPECT_EQ(lost.detail, "lost from step 30000 on");
  EXPECT_EQ(diagnosed(run_of(c.module, c.operation, {c.parameters(0.8, 0)}, {nan, nan})).detail, "lost from step 0 on");
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name;
  for (const char c : info.param.module)
    name += c == '+' ? "Add" : c == '*' ? "Mul" : c == '-' ? "" : std::string(1, c);
  return name + "_" + std::string(name_of(info.param.operation));
}
INSTANTIATE_TEST_SUITE_P(EveryModule, Failures, testing::ValuesIn(cases), test_name);

TEST(Weights, TheBestRowIsLookedAt) {
  // Row 1 has the smallest validation error and a wrong sign; all others are right.
  const HandMade run = run_of("NAU", Operation::Subtract, {{1, -1}, {1, 1}, {1, -1}}, {9, 1, 2});
  EXPECT_EQ(diagnosed(run).detail, "W[2] = 1 instead of -1");
}

TEST(Weights, EveryWrongOneIsNamed) {
  EXPECT_EQ(diagnosed(run_of("NAU", Operation::Add, {{-0.98, 0.3}}, quiet)).detail,
            "W[1] = -0.98 instead of 1, W[2] = 0.3 instead of 1");
}

// The operands of seed 0 are the sixth and the seventh of ten.
TEST(Weights, OfOtherInputsMustBeZero) {
  Values W(10, 0.0);
  W[5] = W[6] = 1;
  EXPECT_EQ(diagnosed(run_of("NAU", Operation::Add, {W}, quiet, 10)).kind, name_of(Kind::Imprecise));
  W[1] = 0.97;
  EXPECT_EQ(diagnosed(run_of("NAU", Operation::Add, {W}, quiet, 10)).detail, "W[2] = 0.97 instead of 0");
}

TEST(Weights, PowersOfTwoAndMoreAreWrong) {
  const Failure failure = diagnosed(run_of("RealNPU", Operation::Multiply, {{1, 2.3, 1, 1}}, quiet));
  EXPECT_EQ(failure.kind, name_of(Kind::WrongWeights));
  EXPECT_EQ(failure.detail, "W_re[2] = 2.3 instead of 1");
}

TEST(Weights, OfInputsAndReciprocalsAreJudgedTogether) {
  Failure failure = diagnosed(run_of("NMRU", Operation::Divide, {{1, 0, 0, 0}}, quiet));
  EXPECT_EQ(failure.detail, "W-R[2] = 0 instead of -1");
  failure = diagnosed(run_of("NMRU", Operation::Divide, {{1, 1, 0, 1}}, quiet));
  EXPECT_EQ(failure.detail, "W-R[2] = 0 instead of -1");  // x2/x2 is 1
  failure = diagnosed(run_of("NMRU", Operation::Divide, {{1, 0, 0, 0.999}}, quiet));
  EXPECT_EQ(failure.kind, name_of(Kind::Imprecise)) << failure.detail;
}

TEST(Weights, OfThePathThatIsNotTakenAreFree) {
  // Of the gated pair, the NAU's add and the NMU's multiply.
  const Failure failure =
      diagnosed(run_of("Gated", Operation::Multiply, {joined({{0, 0}, {1, 0}, {shut, shut}})}, quiet));
  EXPECT_EQ(failure.detail, "W_nmu[2] = 0 instead of 1");
}

TEST(Weights, ImaginaryPartsMustBeZero) {
  EXPECT_EQ(diagnosed(run_of("NPU", Operation::Divide, {{1, -1, 0, 0.7, 1, 1}}, quiet)).detail,
            "W_im[2] = 0.7 instead of 0");
}

// ---- what moves ----------------------------------------------------------------------------------------------------

TEST(Movement, IsThatOfTheLastFifth) {
  Values validation;
  for (int row = 0; row <= 50; ++row) validation.push_back(row < 40 ? 100.0 - row : 1);
  EXPECT_EQ(diagnosed(run_of("NAU", Operation::Add, {{0.8, 1}}, validation)).kind, name_of(Kind::Stuck));
  validation[45] = 1.009;
  EXPECT_EQ(diagnosed(run_of("NAU", Operation::Add, {{0.8, 1}}, validation)).kind, name_of(Kind::Stuck));
  validation[45] = 1.02;
  EXPECT_EQ(diagnosed(run_of("NAU", Operation::Add, {{0.8, 1}}, validation)).kind, name_of(Kind::NotConverged));
}

TEST(Movement, OneRowTellsNothing) {
  EXPECT_EQ(diagnosed(run_of("NAU", Operation::Add, {{0.8, 1}}, {1})).kind, name_of(Kind::NotConverged));
}

// ---- gates ---------------------------------------------------------------------------------------------------------

TEST(Gates, UndecidedBetweenSumAndProduct) {
  const Failure nalu = diagnosed(run_of("NALU", Operation::Add, {joined({squashed({1, 1}), {0, 0}})}, quiet));
  EXPECT_EQ(nalu.kind, name_of(Kind::GateUndecided));
  EXPECT_EQ(nalu.detail, "gate g = 0.5");
  const Failure inalu =
      diagnosed(run_of("iNALU", Operation::Multiply, {joined({squashed({1, 1}), squashed({1, 1}), {-3}})}, quiet));
  EXPECT_EQ(inalu.kind, name_of(Kind::GateUndecided));
  EXPECT_EQ(inalu.detail, "gate = 0.047");
}

TEST(Gates, DecidedDifferentlyForDifferentInputs) {
  const Failure failure =
      diagnosed(run_of("NALU", Operation::Add, {joined({squashed({1, 1}), {open, open}})}, quiet, 2, "4"));
  EXPECT_EQ(failure.kind, name_of(Kind::GateUndecided));
  EXPECT_NE(failure.detail.find("depending on the input"), std::string::npos) << failure.detail;
}

TEST(Gates, DecidedForTheWrongPath) {
  const Failure nalu = diagnosed(run_of("NALU", Operation::Add, {joined({squashed({1, 1}), {shut, shut}})}, quiet));
  EXPECT_EQ(nalu.kind, name_of(Kind::WrongWeights));
  EXPECT_NE(nalu.detail.find("takes the product"), std::string::npos) << nalu.detail;
  const Failure inalu =
      diagnosed(run_of("iNALU", Operation::Divide, {joined({squashed({1, 1}), squashed({1, -1}), {open}})}, quiet));
  EXPECT_EQ(inalu.kind, name_of(Kind::WrongWeights));
  EXPECT_NE(inalu.detail.find("takes the sum"), std::string::npos) << inalu.detail;
}

TEST(Gates, WrongWeightsComeBeforeUndecidedGates) {
  EXPECT_EQ(diagnosed(run_of("NALU", Operation::Add, {joined({squashed({1, -1}), {0, 0}})}, quiet)).kind,
            name_of(Kind::WrongWeights));
}

TEST(Gates, UndecidedGatesComeBeforeStuckWeights) {
  EXPECT_EQ(diagnosed(run_of("NALU", Operation::Add, {joined({squashed({1, 0.8}), {0, 0}})}, quiet)).kind,
            name_of(Kind::GateUndecided));
}

TEST(Gates, OfAnOperandMustBeOpen) {
  const Failure npu = diagnosed(run_of("NPU", Operation::Multiply, {{1, 1, 0, 0, 1, -0.2}}, quiet));
  EXPECT_EQ(npu.kind, name_of(Kind::WrongWeights));
  EXPECT_EQ(npu.detail, "gate of x2 is closed");
  const Failure real_npu = diagnosed(run_of("RealNPU", Operation::Divide, {{1, -1, 0, 1}}, quiet));
  EXPECT_EQ(real_npu.detail, "gate of x1 is closed");
  const Failure half = diagnosed(run_of("RealNPU", Operation::Divide, {{1, -1, 0.5, 1}}, quiet));
  EXPECT_EQ(half.kind, name_of(Kind::GateUndecided));
  EXPECT_EQ(half.detail, "gate of x1 = 0.5");
}

// Seed 0 of three inputs multiplies the first two or the last two; the remaining one is switched off by its gate, by
// its weight, or not.
TEST(Gates, OfOtherInputsMayBeClosedInsteadOfTheirWeights) {
  const std::size_t other = OperandPlace(0, 3).first_operand == 0 ? 2 : 0;
  const auto failure = [&](double weight, double gate) {
    Values parameters(6, 1.0);
    parameters[other] = weight;
    parameters[3 + other] = gate;
    return diagnosed(run_of("RealNPU", Operation::Multiply, {parameters}, quiet, 3));
  };
  EXPECT_EQ(failure(0.9, 0).kind, name_of(Kind::Imprecise));
  EXPECT_EQ(failure(0, 1).kind, name_of(Kind::Imprecise));
  EXPECT_EQ(failure(0, 0.5).kind, name_of(Kind::Imprecise));
  EXPECT_EQ(failure(0.9, 1).kind, name_of(Kind::WrongWeights));
  EXPECT_EQ(failure(0.3, 0.5).kind, name_of(Kind::GateUndecided));
  EXPECT_EQ(failure(0.3, 1).kind, name_of(Kind::Stuck));
}

TEST(Failure, ATestErrorThatIsNotANumberIsNamed) {
  HandMade run = run_of("NAU", Operation::Add, {{1, 1}}, quiet);
  run.set_test_errors(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(diagnosed(run).kind, name_of(Kind::NotANumber));
  EXPECT_EQ(diagnosed(run).detail, "the test error at step 10000 is not a number");
}

TEST(Failure, WithoutParametersTheDetailSaysSo) {
  HandMade run = run_of("NAU", Operation::Add, {{1, 1}}, quiet);
  run.record.parameters.clear();
  EXPECT_NE(diagnosed(run).detail.find("stored"), std::string::npos);
}

TEST(Failure, KindsHaveNames) {
  EXPECT_EQ(name_of(Kind::NotANumber), "not a number");
  EXPECT_EQ(name_of(Kind::WrongWeights), "wrong weights");
  EXPECT_EQ(name_of(Kind::GateUndecided), "gate undecided");
  EXPECT_EQ(name_of(Kind::Stuck), "stuck");
  EXPECT_EQ(name_of(Kind::NotConverged), "not converged");
  EXPECT_EQ(name_of(Kind::Imprecise), "imprecise");
  EXPECT_EQ(name_of(Basin::NoRegulariser), "no regulariser");
  EXPECT_EQ(name_of(Basin::WrongBasin), "wrong basin");
  EXPECT_EQ(name_of(Basin::RegularisationFailure), "regularisation failure");
  EXPECT_EQ(name_of(Basin::Solved), "solved");
}

// ---- before regularisation -----------------------------------------------------------------------------------------

std::optional<BeforeRegularisation> before(const HandMade& run) {
  return before_regularisation(run.cell, run.record, 0);
}

Basin basin_of(const HandMade& run, bool success = false) {
  RunResult result = *judge(run.cell, run.record, 0);
  result.success = success;
  return basin(run.cell, run.record, result);
}

// NAU's regulariser starts after step 20000, the third row.
TEST(Basins, TheLastRowWithoutRegulariserDecides) {
  const Values right{0.7, 0.6}, wrong{0.7, 0.2};
  const HandMade good = run_of("NAU", Operation::Add, {wrong, wrong, right, wrong, wrong, wrong}, falling);
  EXPECT_EQ(before(good)->row, 2u);
  EXPECT_EQ(basin_of(good), Basin::RegularisationFailure);
  EXPECT_EQ(basin_of(good, true), Basin::Solved);
  const HandMade bad = run_of("NAU", Operation::Add, {right, right, wrong, right, right, right}, falling);
  EXPECT_EQ(basin_of(bad), Basin::WrongBasin);
  EXPECT_EQ(basin_of(bad, true), Basin::Solved);
}

TEST(Basins, AreSaidWithTheFailure) {
  EXPECT_EQ(diagnosed(run_of("NAU", Operation::Add, {{0.7, 0.6}}, falling)).when, "regularisation failure");
  EXPECT_EQ(diagnosed(run_of("NAU", Operation::Add, {{0.7, 0.2}}, falling)).when, "wrong basin");
  EXPECT_EQ(diagnosed(run_of("NAC+", Operation::Add, {squashed({1, 0})}, falling)).when, "");
}

TEST(Basins, NmuHasOneToo) {
  EXPECT_EQ(basin_of(run_of("NMU", Operation::Multiply, {{0.6, 0.51}}, falling)), Basin::RegularisationFailure);
  EXPECT_EQ(basin_of(run_of("NMU", Operation::Multiply, {{0.6, 0.49}}, falling)), Basin::WrongBasin);
}

TEST(Basins, OtherRegularisersDoNotMatter) {
  HandMade run = run_of("NAU", Operation::Add, {{0.7, 0.6}}, falling);
  run.cell.recipe.layers[0].regularisers.push_back(Regulariser::l1(1e-9, 1e-7));
  EXPECT_EQ(basin_of(run), Basin::RegularisationFailure);
}

// iNALU's starts after step 10000 and saturates the gate too.
TEST(Basins, OfINalu) {
  const auto inalu = [](double b, double gate) {
    const Values before = joined({squashed({-0.4, 0.3}), squashed({0.9, b}), {gate}}), after(9, 0.0);
    return run_of("iNALU", Operation::Divide, {after, before, after}, falling);
  };
  EXPECT_EQ(before(inalu(-0.6, -0.1))->row, 1u);
  EXPECT_EQ(basin_of(inalu(-0.6, -0.1)), Basin::RegularisationFailure);
  EXPECT_EQ(basin_of(inalu(-0.4, -0.1)), Basin::WrongBasin);
  EXPECT_EQ(basin_of(inalu(-0.6, 0.1)), Basin::WrongBasin);
}

TEST(Basins, RoundingIsSharperThanTheLooseThreshold) {
  HandMade run = run_of("NAU", Operation::Add, {{0.45, 1}}, falling);
  // 0.55^2 of the mean of x1^2 on [2, 6); the threshold is 0.49^2 of the mean of (|x1| + |x2|)^2, 16.0.
  run.set_test_errors(5.24);
  EXPECT_TRUE(before(run)->below_loose_threshold);
  EXPECT_FALSE(before(run)->weights_round_to_targets);
  EXPECT_EQ(basin_of(run), Basin::WrongBasin);
  run.set_test_errors(16.1);
  EXPECT_FALSE(before(run)->below_loose_threshold);
}

TEST(Basins, NeedARegulariserThatIsSwitchedOn) {
  EXPECT_EQ(basin_of(run_of("NAC+", Operation::Add, {squashed({1, 0})}, falling)), Basin::NoRegulariser);
  EXPECT_EQ(basin_of(run_of("RealNPU", Operation::Multiply, {{1, 0, 1, 1}}, falling)), Basin::NoRegulariser);
  EXPECT_EQ(basin_of(run_of("NAU", Operation::Add, {{1, 0}}, {9, 8})), Basin::NoRegulariser);  // ends too early
  HandMade from_the_start = run_of("NAU", Operation::Add, {{1, 0}}, falling);
  from_the_start.cell.recipe.layers[0].regularisers = {Regulariser::sparsity(0.01, 0, 0)};
  EXPECT_EQ(basin_of(from_the_start), Basin::NoRegulariser);
}

}  // namespace
}  // namespace nalm::single_module_failures_test
