// The first 2000 iterations of 17 runs against the series that the reference software (the survey's own program) logged
// for seed 0 under PyTorch 1.13 on a CPU: validation and test error within 1e-4 relative, sparsity error within 1e-6.
// `/usr/bin/python3 benchmarks/torch/torch_baseline.py --check` computes the same rows in PyTorch, without that
// program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.hpp"
#include "nalm/model.hpp"
#include "nalm/train.hpp"
#include "tasks/single_module/data.hpp"
#include "train/bundle.hpp"

namespace nalm::golden_series_test {
namespace {

struct Logged {
  double validation, test, sparsity;
};

struct Series {
  int range;
  std::string_view module;
  Operation operation;
  std::array<Logged, 3> rows;  // at iterations 0, 1000, 2000

  friend std::ostream& operator<<(std::ostream& out, const Series& s) {
    return out << s.module << " " << name_of(s.operation) << " on range " << s.range;
  }
};

constexpr Operation add = Operation::Add, sub = Operation::Subtract, mul = Operation::Multiply, div = Operation::Divide;

constexpr Series reference[] = {
    {6,
     "NAC+",
     add,
     {{{4.991192, 36.88666, 0.452608}, {3.624397, 26.80083, 0.245195}, {2.376109, 17.57222, 0.00935141}}}},
    {6,
     "NAC*",
     mul,
     {{{1.329205, 229.8416, 0.452608}, {1.063346, 207.7622, 0.239720}, {0.775069, 175.9543, 0.00160251}}}},
    {6,
     "NALU",
     add,
     {{{2.673728, 23.06518, 0.0754216}, {1.088019, 6.496249, 0.404265}, {0.242958, 1.594468, 0.285895}}}},
    {6,
     "G-NALU",
     add,
     {{{3.149781, 28.70466, 0.231520}, {2.254544, 15.93530, 0.191891}, {1.196912, 5.678016, 0.477165}}}},
    {6,
     "iNALU",
     mul,
     {{{1.139165, 198.0146, 0.457924}, {0.122015, 116.5926, 0.290059}, {0.0708598, 99.61727, 0.216984}}}},
    {6,
     "NAU",
     sub,
     {{{1.546296, 12.84465, 0.411523}, {0.149165, 2.487608, 0.0467057}, {0.0996915, 1.662357, 0.219430}}}},
    {6,
     "NMU",
     mul,
     {{{1.081182, 181.6661, 0.316015}, {0.00690865, 1.604853, 0.0588446}, {1.952844e-6, 4.432640e-4, 0.00158709}}}},
    {6,
     "NPU",
     mul,
     {{{3.173026, 291.8536, 0.0819808}, {1.955670, 265.2174, 0.177124}, {1.955670, 265.2174, 0.177124}}}},
    {6,
     "RealNPU",
     div,
     {{{0.262121, 1.149101, 0.163962}, {0.0797599, 0.315395, 0.205349}, {0.0797115, 0.325097, 0.205349}}}},
    {4,
     "NAC+",
     add,
     {{{2.764272, 36.65524, 0.452608}, {2.032352, 26.94936, 0.245546}, {1.338506, 17.74908, 0.0108066}}}},
    {4,
     "NALU",
     add,
     {{{1.638971, 16.49614, 0.0754216}, {0.808147, 8.838016, 0.336431}, {0.565970, 15.46751, 0.349447}}}},
    {4,
     "G-NALU",
     add,
     {{{1.909167, 20.60938, 0.231520}, {1.180767, 11.44278, 0.188657}, {0.799246, 8.045872, 0.434415}}}},
    {4,
     "iNALU",
     mul,
     {{{1.746466, 294.6907, 0.457924}, {0.709209, 185.9764, 0.141881}, {0.182650, 61.93465, 0.149623}}}},
    {4,
     "NAU",
     sub,
     {{{3.120313, 40.68314, 0.411523}, {0.458849, 6.059004, 0.410234}, {0.0270775, 0.358922, 0.143782}}}},
    {4,
     "NMU",
     mul,
     {{{1.726494, 248.9514, 0.316015}, {5.093442e-4, 0.0541576, 0.0130550}, {1.790387e-11, 1.895802e-9, 2.443790e-6}}}},
    {4,
     "NPU",
     mul,
     {{{2.498382, 300.4862, 0.0819808}, {1.499184, 307.7486, 0.142769}, {0.00735593, 59.30579, 0.175988}}}},
    {4,
     "RealNPU",
     div,
     {{{6129.486, 1.430464, 0.163962}, {68761.81, 1.354337, 0.0940716}, {29597.02, 1.424248, 0.0448427}}}},
};

// The same number in every lane.
AlignedVector<float> in_lanes(const std::vector<float>& values, int lanes) {
  AlignedVector<float> result;
  for (const float v : values) result.insert(result.end(), static_cast<std::size_t>(lanes), v);
  return result;
}

struct Batch {
  AlignedVector<float> x, t;
  Batch(NumpyStream& stream, const Range& range, Operation operation, int rows, int lanes) {
    const Samples samples = draw(stream, range, operation, 2, 0, rows);
    x = in_lanes(samples.x, lanes);
    t = in_lanes(samples.t, lanes);
  }
};

constexpr int evaluation_rows = 10000;

double mean_squared_error(Network<float>& network, const Batch& batch) {
  std::vector<double> sums(static_cast<std::size_t>(network.lanes()));
  network.update_weights();
  network.squared_error(batch.x.data(), batch.t.data(), evaluation_rows, sums);
  return sums[0] / evaluation_rows;
}

std::array<Logged, 3> train(const Series& series) {
  const TaskRange& range = paper_ranges()[static_cast<std::size_t>(series.range)];
  const ModuleInfo& module = **find_module(series.module);
  const Stack stack{{&module, default_shape(module, 2, 1)}};
  Recipe recipe = default_recipe(stack);
  // The survey's beta for division.
  if (series.operation == Operation::Divide && !recipe.layers[0].regularisers.empty() &&
      recipe.layers[0].regularisers[0].kind == Regulariser::Kind::L1)
    recipe.layers[0].regularisers = {Regulariser::l1(1e-9, 1e-7)};
  Bundle<float> bundle(stack, recipe, simd::active_target());
  const int lanes = bundle.lanes();
  for (int lane = 0; lane < lanes; ++lane) {
    // The reference draws start values twice.
    const auto stream = std::make_shared<TorchStream>(0);
    bundle.start(lane, stream);
    bundle.start(lane, stream);
  }
  NumpyStream train_stream(OperandPlace(0, 2).train_seed), validation_stream(validation_seed), test_stream(test_seed);
  const Batch validation(validation_stream, range.train, series.operation, evaluation_rows, lanes);
  const Batch test(test_stream, range.test, series.operation, evaluation_rows, lanes);

  std::array<Logged, 3> result{};
  for (int e = 0; e <= 2000; ++e) {
    const Batch batch(train_stream, range.train, series.operation, 128, lanes);
    if (e % 1000 == 0) {
      Network<float>& network = bundle.network();
      Logged& row = result[static_cast<std::size_t>(e / 1000)];
      row = {mean_squared_error(network, validation), mean_squared_error(network, test),
             *sparsity_error(network.model(0))};
      for (int lane = 0; lane < lanes; ++lane) bundle.set_validation_error(lane, row.validation);
    }
    bundle.step(batch.x.data(), batch.t.data(), 128);
  }
  return result;
}

class GoldenSeries : public testing::TestWithParam<Series> {};

TEST_P(GoldenSeries, IsReproduced) {
  const std::array<Logged, 3> rows = train(GetParam());
  for (std::size_t k = 0; k < 3; ++k) {
    const Logged &got = rows[k], &wanted = GetParam().rows[k];
    const std::string at = " at " + std::to_string(1000 * k);
    EXPECT_NEAR(got.validation, wanted.validation, 1e-4 * wanted.validation) << "validation error" << at;
    EXPECT_NEAR(got.test, wanted.test, 1e-4 * wanted.test) << "test error" << at;
    EXPECT_NEAR(got.sparsity, wanted.sparsity, 1e-6) << "sparsity error" << at;
    RecordProperty("differences" + at, fmt::format("validation {:+.1e}, test {:+.1e} relative, sparsity {:+.1e}",
                                                   got.validation / wanted.validation - 1, got.test / wanted.test - 1,
                                                   got.sparsity - wanted.sparsity));
  }
}

std::string test_name(const testing::TestParamInfo<Series>& info) {
  std::string name = "Range" + std::to_string(info.param.range);
  for (const char c : info.param.module)
    name += c == '+' ? "Add" : c == '*' ? "Mul" : c == '-' ? "" : std::string(1, c);
  return name + "_" + std::string(name_of(info.param.operation));
}

INSTANTIATE_TEST_SUITE_P(SeedZero, GoldenSeries, testing::ValuesIn(reference), test_name);

}  // namespace
}  // namespace nalm::golden_series_test
