// Levenberg-Marquardt for a bundle of runs: solutions, frozen parameters, and lanes that know nothing of each other.
#include "train/least_squares.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "nalm/model.hpp"
#include "sanitized.hpp"
#include "train/start_values.hpp"

namespace nalm::least_squares_test {
namespace {

using Values = std::vector<double>;

Stack stack_of(std::string_view text, int inputs) {
  const Result<Stack> stack = parse_stack(text, inputs);
  EXPECT_TRUE(stack.ok()) << stack.error().message;
  return *stack;
}

// Rows, start values and which of them may move.
struct Problem {
  Values x, targets, start;
  std::vector<std::uint8_t> free;
};

template <class Target>
Problem run_of(int rows, int inputs, Values start, std::uint64_t seed, Target target) {
  Problem run;
  Xoshiro random(seed);
  for (int r = 0; r < rows; ++r) {
    Values x;
    for (int i = 0; i < inputs; ++i) x.push_back(random.between(0.5, 2));
    run.targets.push_back(target(x));
    run.x.insert(run.x.end(), x.begin(), x.end());
  }
  run.free.assign(start.size(), 1);
  run.start = std::move(start);
  return run;
}

void set(LeastSquares& squares, int lane, const Problem& run) {
  squares.set_data(lane, run.x, run.targets);
  squares.set_run(lane, run.start, run.free);
}

struct Solution {
  Values parameters;
  double mse = 0;
};

// The run in one lane, and others beside it.
Solution solve(const Stack& stack, const Problem& run, int steps, const simd::Target& target = simd::active_target(),
               int lane = 0, const Problem* company = nullptr) {
  LeastSquares squares(stack, static_cast<int>(run.targets.size()), target);
  for (int l = 0; l < squares.lanes(); ++l) set(squares, l, l == lane || !company ? run : *company);
  squares.minimise(steps);
  return {squares.parameters(lane), squares.mse(lane)};
}

// c * a^2 / sqrt(b): two powers, a factor, a constant.
const Values product_truth = {2, -0.5, 1.7, 0};
Problem product_run(double perturbation) {
  Values start = product_truth;
  for (double& value : start) value += perturbation;
  return run_of(100, 2, start, 3, [](const Values& x) { return 1.7 * x[0] * x[0] / std::sqrt(x[1]); });
}
Stack product_stack() { return stack_of("NRU-power:1,Linear:1", 2); }

// ---- solutions -----------------------------------------------------------------------------------------------------

TEST(LeastSquares, SolvesALinearProblemInFewSteps) {
  const Problem run =
      run_of(40, 3, {0, 0, 0, 0}, 1, [](const Values& x) { return 2 * x[0] - 3 * x[1] + 0.25 * x[2] + 7; });
  const Solution found = solve(stack_of("Linear:1", 3), run, 8);
  const Values expected = {2, -3, 0.25, 7};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(found.parameters[k], expected[k], 1e-11) << k;
  EXPECT_LT(found.mse, 1e-22);
}

TEST(LeastSquares, FindsTheMinimumOfAProblemWithoutASolution) {
  // A constant for everything: the mean.
  Problem run = run_of(50, 1, {0, 0}, 2, [](const Values& x) { return x[0] * x[0]; });
  run.free[0] = 0;
  double mean = 0, squares = 0;
  for (const double t : run.targets) mean += t / 50, squares += t * t / 50;
  const Solution found = solve(stack_of("Linear:1", 1), run, 20);
  EXPECT_NEAR(found.parameters[1], mean, 1e-9);
  EXPECT_NEAR(found.mse, squares - mean * mean, 1e-9);
}

// exp(x) is no power of x: the last steps gain little, and are left out where nobody is interested in the error.
TEST(LeastSquares, DoesNotCrawlAboveAnErrorOfNoInterest) {
  const Problem run = run_of(60, 1, {0.1, 1, 0}, 4, [](const Values& x) { return std::exp(2 * x[0]); });
  const Stack stack = stack_of("NRU-power:1,Linear:1", 1);
  const auto error = [&](double no_interest) {
    LeastSquares squares(stack, 60, simd::active_target());
    for (int l = 0; l < squares.lanes(); ++l) set(squares, l, run);
    squares.minimise(200, no_interest);
    return squares.mse(0);
  };
  const double least = solve(stack, run, 200).mse;
  EXPECT_EQ(error(2 * least), least);  // all steps of interest are taken
  EXPECT_GT(error(0), least);
  EXPECT_LT(error(0), 1.5 * least);
}

TEST(LeastSquares, RecoversThePowersOfAProduct) {
  for (const double perturbation : {0.3, -0.3}) {
    const Solution found = solve(product_stack(), product_run(perturbation), 40);
    for (std::size_t k = 0; k < product_truth.size(); ++k) {
      EXPECT_NEAR(found.parameters[k], product_truth[k], 1e-10) << perturbation << " " << k;
    }
  }
}

TEST(LeastSquares, RecoversARatioOfSums) {
  // (a + 3*b)/(1 + 2*a): one product per column, two sums, their quotient.
  Problem run = run_of(160, 2, {1, 0, 0, 1, 1.3, 1.7, 2.5, 0, 0, 1, 1, -1}, 4,
                       [](const Values& x) { return (x[0] + 3 * x[1]) / (1 + 2 * x[0]); });
  run.free = {0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0};
  const Solution found = solve(stack_of("NRU-power:2,Linear:2,NRU-power:1", 2), run, 40);
  const Values expected = {1, 0, 0, 1, 1, 2, 3, 0, 0, 1, 1, -1};
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(found.parameters[k], expected[k], 1e-10) << k;
}

TEST(LeastSquares, TheErrorIsThatOfItsParameters) {
  Problem run = product_run(0.3);
  const Stack stack = product_stack();
  const Solution found = solve(stack, run, 3);
  Model model;
  model.layers = {{stack[0].module, stack[0].shape, {found.parameters[0], found.parameters[1]}},
                  {stack[1].module, stack[1].shape, {found.parameters[2], found.parameters[3]}}};
  EXPECT_NEAR(found.mse / gradients(model, run.x, run.targets, Precision::Double)->mse, 1, 1e-12);
}

TEST(LeastSquares, StaysAtASolution) {
  const Solution found = solve(product_stack(), product_run(0), 20);
  for (std::size_t k = 0; k < product_truth.size(); ++k) EXPECT_NEAR(found.parameters[k], product_truth[k], 1e-14) << k;
}

// ---- parameters that do not move -----------------------------------------------------------------------------------

TEST(LeastSquares, FrozenParametersKeepTheirBits) {
  Problem run = product_run(0.3);
  run.free = {1, 0, 1, 0};
  const Solution found = solve(product_stack(), run, 40);
  EXPECT_EQ(found.parameters[1], run.start[1]);
  EXPECT_EQ(found.parameters[3], run.start[3]);
  EXPECT_NE(found.parameters[0], run.start[0]);
  EXPECT_NE(found.parameters[2], run.start[2]);
  EXPECT_LT(found.mse, solve(product_stack(), run, 0).mse);
}

TEST(LeastSquares, AParameterWithoutInfluenceStaysWhereItIs) {
  // Powers 0.7 and 1 behind a factor of 0; as soon as that has moved, they do.
  const Problem hidden = run_of(60, 2, {0.7, 1, 0, 1}, 5, [](const Values& x) { return 2 * x[0] + 1; });
  const Solution one = solve(product_stack(), hidden, 1), ten = solve(product_stack(), hidden, 10);
  EXPECT_EQ(one.parameters[0], 0.7);
  EXPECT_EQ(one.parameters[1], 1);
  EXPECT_NE(one.parameters[2], 0);
  EXPECT_NE(ten.parameters[0], 0.7);
  EXPECT_LT(ten.mse, one.mse);
}

// ---- lanes ---------------------------------------------------------------------------------------------------------

void expect_same_bits(const Solution& a, const Solution& b) {
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (std::size_t k = 0; k < a.parameters.size(); ++k) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.parameters[k]), std::bit_cast<std::uint64_t>(b.parameters[k]))
        << k << ": " << a.parameters[k] << " and " << b.parameters[k];
  }
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.mse), std::bit_cast<std::uint64_t>(b.mse)) << a.mse << " and " << b.mse;
}

// Runs that end early, go on for long, or are no runs at all.
std::vector<Problem> companies() {
  Problem solved = product_run(0), far = product_run(0.9), nan = product_run(0.3), huge = product_run(0.3);
  far.free = {1, 0, 1, 1};
  nan.start.assign(4, std::numeric_limits<double>::quiet_NaN());
  for (double& t : huge.targets) t *= 1e200;
  return {solved, far, nan, huge};
}

TEST(LeastSquares, ARunHasTheSameBitsInEveryLaneOfEveryTargetInAnyCompany) {
  const Problem run = product_run(0.3);
  const Solution alone = solve(product_stack(), run, 15, **simd::find_target("scalar"));
  for (const simd::Target& target : simd::targets()) {
    if (!target.supported) continue;
    const int lanes = target.lanes<double>();
    for (const int lane : std::set{0, lanes / 2, lanes - 1}) {
      SCOPED_TRACE(fmt::format("{}, lane {}", target.name, lane));
      expect_same_bits(alone, solve(product_stack(), run, 15, target, lane));
      for (const Problem& company : companies())
        expect_same_bits(alone, solve(product_stack(), run, 15, target, lane, &company));
    }
  }
}

TEST(LeastSquares, AnotherRunHasOthers) {  // otherwise the test above proves nothing
  const Solution one = solve(product_stack(), product_run(0.3), 3), other = solve(product_stack(), product_run(0.2), 3);
  EXPECT_NE(one.parameters, other.parameters);
}

TEST(LeastSquares, ASecondRunInTheSameLanesForgetsTheFirst) {
  const Problem first = product_run(0.9), second = product_run(0.3);
  LeastSquares squares(product_stack(), 100, simd::active_target());
  for (const Problem& run : {first, second}) {
    for (int l = 0; l < squares.lanes(); ++l) set(squares, l, run);
    squares.minimise(15);
  }
  expect_same_bits({squares.parameters(0), squares.mse(0)}, solve(product_stack(), second, 15));
}

TEST(LeastSquares, SurvivesAStartOfNan) {
  Problem run = product_run(0.3);
  run.start[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(solve(product_stack(), run, 50).mse));
}

TEST(LeastSquares, SurvivesAStartThatOverflows) {
  Problem run = product_run(0.3);
  run.start[0] = 5000;
  const Solution found = solve(product_stack(), run, 50);
  EXPECT_FALSE(found.mse < 0);
  EXPECT_EQ(found.parameters.size(), 4u);
}

// ---- gradients of outputs ------------------------------------------------------------------------------------------

TEST(OutputGradients, AgreeWithDifferences) {
  Xoshiro random(6);
  constexpr int samples = 5, inputs = 3;
  for (const char* text : {"Linear:1", "NRU-power:1", "NRU-power:3,Linear:1", "NRU-power:2,Linear:2,NRU-power:1",
                           "Linear:2,NRU-power:3,Linear:1", "NRU-power:3,Linear:3,NRU-power:2,Linear:1"}) {
    const Stack stack = stack_of(text, inputs);
    Network<double> network(stack, simd::active_target());
    const std::size_t lanes = static_cast<std::size_t>(network.lanes());
    // Positive weights of sums: their roots have derivatives everywhere.
    std::vector<Values> parameters;
    int count = 0;
    for (int k = 0; k < network.layer_count(); ++k) {
      Values p(static_cast<std::size_t>(network.values(k).count));
      for (double& value : p)
        value = network.spec(k).module->name == "Linear" ? random.between(0.5, 1.5) : random.between(-2, 2);
      count += static_cast<int>(p.size());
      parameters.push_back(p);
    }
    AlignedVector<double> x(samples * inputs * lanes), y(samples * lanes);
    AlignedVector<double> gradients(static_cast<std::size_t>(samples * count) * lanes);
    for (double& value : x) value = random.between(0.5, 2);
    const auto outputs = [&] {
      for (int lane = 0; lane < network.lanes(); ++lane) {
        for (int k = 0; k < network.layer_count(); ++k) {
          network.set_parameters(lane, k, parameters[static_cast<std::size_t>(k)]);
        }
      }
      network.update_weights();
      AlignedVector<double> result(samples * lanes);
      network.predict(x.data(), result.data(), samples);
      return result;
    };
    const AlignedVector<double> predicted = outputs();
    network.output_gradients(x.data(), samples, y.data(), gradients.data());
    for (std::size_t k = 0; k < y.size(); ++k) EXPECT_EQ(y[k], predicted[k]) << text;
    int index = 0;
    for (Values& layer : parameters) {
      for (double& p : layer) {
        const double value = p, h = 1e-6;
        p = value + h;
        const AlignedVector<double> above = outputs();
        p = value - h;
        const AlignedVector<double> below = outputs();
        p = value;
        for (std::size_t s = 0; s < samples; ++s) {
          for (std::size_t lane = 0; lane < lanes; ++lane) {
            const double difference = (above[s * lanes + lane] - below[s * lanes + lane]) / (2 * h);
            const double gradient =
                gradients[(s * static_cast<std::size_t>(count) + static_cast<std::size_t>(index)) * lanes + lane];
            EXPECT_NEAR(gradient, difference, 1e-7 * (std::fabs(difference) + std::fabs(predicted[s * lanes + lane])))
                << text << ", parameter " << index << ", sample " << s << ", lane " << lane;
          }
        }
        ++index;
      }
    }
  }
}

TEST(OutputGradients, OfASquareOfNegativeSumsHaveTheRightSign) {
  // ((x - 3))^2 at x = 1: -4 by the constant, -4 by the factor.
  const Stack stack = stack_of("Linear:1,NRU-power:1", 1);
  Network<double> network(stack, simd::active_target());
  const std::size_t lanes = static_cast<std::size_t>(network.lanes());
  for (int lane = 0; lane < network.lanes(); ++lane) {
    network.set_parameters(lane, 0, Values{1, -3});
    network.set_parameters(lane, 1, Values{2});
  }
  network.update_weights();
  AlignedVector<double> x(lanes, 1.0), y(lanes), gradients(3 * lanes);
  network.output_gradients(x.data(), 1, y.data(), gradients.data());
  EXPECT_NEAR(y[0], 4, 1e-14);
  EXPECT_NEAR(gradients[0], -4, 1e-13);
  EXPECT_NEAR(gradients[lanes], -4, 1e-13);
  EXPECT_NEAR(gradients[2 * lanes], 4 * std::log(2), 1e-13);
}

}  // namespace
}  // namespace nalm::least_squares_test
