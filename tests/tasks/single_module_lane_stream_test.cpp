// The bundle's streams against NumpyStream and draw(), which are tested against the reference software.
#include "tasks/single_module/lane_stream.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "tasks/single_module/seed_streams.hpp"

namespace nalm::single_module_lane_stream_test {
namespace {

// Lanes that go round so many seeds from one of them on, each with its own range, across many refills of the generator.
void expect_same_as_draw(const simd::Target& target, int inputs, int batch, int batches, std::uint32_t seeds,
                         std::uint32_t first) {
  const std::size_t lanes = static_cast<std::size_t>(target.float_lanes);
  std::vector<LaneStream::Lane> runs;
  for (std::uint32_t l = 0; l < lanes; ++l)
    runs.push_back({(first + l) % seeds * 7 + 1, paper_ranges()[(l + 4) % 9].train});
  std::vector<std::uint32_t> of_streams;
  for (std::uint32_t s = 0; s < seeds; ++s) of_streams.push_back(OperandPlace(s * 7 + 1, inputs).train_seed);
  LaneStream stream(target, runs, inputs);
  SeedStreams streams(target, of_streams);
  const std::size_t samples = static_cast<std::size_t>(batch), width = static_cast<std::size_t>(inputs);
  AlignedVector<double> numbers(samples * width * streams.row());
  AlignedVector<float> x(samples * width * lanes);
  std::array<AlignedVector<float>, 4> t;
  LaneStream::Targets targets{};
  for (std::size_t k = 0; k < 4; ++k) {
    t[k].resize(samples * lanes);
    targets[k] = t[k].data();
  }
  std::vector<std::array<NumpyStream, 4>> expected;  // a stream per operation: draw() gives one target
  for (const auto& run : runs) {
    const NumpyStream one(OperandPlace(run.seed, inputs).train_seed);
    expected.push_back({one, one, one, one});
  }
  for (int k = 0; k < batches; ++k) {
    streams.draw(batch * inputs, numbers.data());
    stream.read(numbers.data() + first, streams.row(), batch, x.data(), targets);
    for (std::size_t l = 0; l < lanes; ++l) {
      for (const Operation operation : all_operations) {
        const std::size_t o = static_cast<std::size_t>(operation);
        const Samples wanted = draw(expected[l][o], runs[l].range, operation, inputs,
                                    OperandPlace(runs[l].seed, inputs).first_operand, batch);
        for (std::size_t j = 0; j < wanted.x.size(); ++j) ASSERT_EQ(x[j * lanes + l], wanted.x[j]) << l << " " << j;
        for (std::size_t j = 0; j < samples; ++j) {
          ASSERT_EQ(t[o][j * lanes + l], wanted.t[j]) << name_of(operation) << " in lane " << l << ", sample " << j;
        }
      }
    }
  }
}

TEST(LaneStream, DrawsTheSameBitsAsOneStreamPerRun) {
  for (const simd::Target& target : simd::targets()) {
    if (!target.supported) continue;
    SCOPED_TRACE(target.name);
    const std::uint32_t lanes = static_cast<std::uint32_t>(target.float_lanes);
    expect_same_as_draw(target, 2, 128, 6, lanes, 0);
    expect_same_as_draw(target, 10, 128, 3, lanes, 0);
    expect_same_as_draw(target, 100, 33, 2, 25, 24);
    expect_same_as_draw(target, 3, 1, 5, 2 * lanes, lanes);
    for (const std::uint32_t seeds : {1u, 3u, 13u, 25u})
      for (const std::uint32_t first : {0u, seeds / 2, seeds - 1}) expect_same_as_draw(target, 2, 128, 3, seeds, first);
  }
}

TEST(SeedStreams, HaveTheNumbersOfTheirSeedsInOrder) {
  for (const simd::Target& target : simd::targets()) {
    if (!target.supported) continue;
    SCOPED_TRACE(target.name);
    const std::size_t lanes = static_cast<std::size_t>(target.float_lanes);
    std::vector<std::uint32_t> seeds;
    std::vector<NumpyStream> expected;
    for (std::uint32_t l = 0; l < lanes; ++l) expected.emplace_back(seeds.emplace_back(1000 + 3 * l));
    SeedStreams streams(target, seeds);
    ASSERT_EQ(streams.row(), lanes);
    for (const int values : {3, 1000, 7, 312}) {
      AlignedVector<double> numbers(static_cast<std::size_t>(values) * lanes);
      streams.draw(values, numbers.data());
      for (std::size_t k = 0; k < numbers.size(); ++k)
        ASSERT_EQ(numbers[k] * 0x1p-53, expected[k % lanes].unit())
            << "value " << k / lanes << " of lane " << k % lanes;
    }
  }
}

TEST(Spread, GivesEveryLaneTheValuesOfItsSource) {
  for (const simd::Target& target : simd::targets()) {
    if (!target.supported) continue;
    SCOPED_TRACE(target.name);
    const std::size_t lanes = static_cast<std::size_t>(target.float_lanes), count = 37;
    for (std::size_t different = 1; different <= lanes; ++different) {
      std::vector<std::vector<float>> values(different);
      std::vector<const float*> sources;
      for (std::size_t s = 0; s < different; ++s) {
        for (std::size_t k = 0; k < count; ++k) values[s].push_back(static_cast<float>(100 * s + k));
        sources.push_back(values[s].data());
      }
      AlignedVector<std::int32_t> source(lanes);
      for (std::size_t l = 0; l < lanes; ++l) source[l] = static_cast<std::int32_t>(5 * l % different);
      AlignedVector<float> x(count * lanes);
      stream_kernels(target.index).spread(sources.data(), different, source.data(), count, x.data());
      for (std::size_t k = 0; k < x.size(); ++k)
        ASSERT_EQ(x[k], values[static_cast<std::size_t>(source[k % lanes])][k / lanes]) << different << " " << k;
    }
  }
}

TEST(LaneStream, LeavesOutTargetsThatNobodyWants) {
  const simd::Target& target = simd::active_target();
  const std::size_t lanes = static_cast<std::size_t>(target.float_lanes);
  const std::vector<LaneStream::Lane> runs(lanes, {3, paper_ranges()[6].train});
  LaneStream all(target, runs, 2), some(target, runs, 2);
  SeedStreams streams(target, std::vector<std::uint32_t>(lanes, 3));
  AlignedVector<double> numbers(256 * streams.row());
  streams.draw(256, numbers.data());
  AlignedVector<float> x(256 * lanes), y(256 * lanes), t(128 * lanes), u(128 * lanes), unused(128 * lanes);
  all.read(numbers.data(), streams.row(), 128, x.data(), {unused.data(), unused.data(), t.data(), unused.data()});
  some.read(numbers.data(), streams.row(), 128, y.data(), {nullptr, nullptr, u.data(), nullptr});
  EXPECT_EQ(x, y);
  EXPECT_EQ(t, u);
}

}  // namespace
}  // namespace nalm::single_module_lane_stream_test
