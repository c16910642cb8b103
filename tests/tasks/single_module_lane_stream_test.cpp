// The bundle's streams against NumpyStream and draw(), which are tested against the reference software.
#include "tasks/single_module/lane_stream.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/random.hpp"

namespace nalm::single_module_lane_stream_test {
namespace {

// Every lane with its own seed and range, on every target, across many refills of the generator.
void expect_same_as_draw(const simd::Target& target, int inputs, int batch, int batches) {
  const std::size_t lanes = static_cast<std::size_t>(target.float_lanes);
  std::vector<LaneStream::Lane> runs;
  for (std::uint32_t l = 0; l < lanes; ++l) runs.push_back({l * 7 + 1, paper_ranges()[(l + 4) % 9].train});
  SeedStreams streams(target);
  LaneStream stream(target, streams, runs, inputs);
  const std::size_t samples = static_cast<std::size_t>(batch), width = static_cast<std::size_t>(inputs);
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
    streams.draw(batch * inputs);
    stream.read(streams, batch, x.data(), targets);
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
    expect_same_as_draw(target, 2, 128, 6);
    expect_same_as_draw(target, 10, 128, 3);
    expect_same_as_draw(target, 100, 33, 2);
    expect_same_as_draw(target, 3, 1, 5);
  }
}

TEST(SeedStreams, AnyNeighboursInARingOfSeedsShareTheirColumns) {
  const simd::Target& target = simd::active_target();
  const std::size_t lanes = static_cast<std::size_t>(target.float_lanes);
  SeedStreams streams(target);
  std::vector<std::vector<std::uint32_t>> windows;
  for (std::uint32_t run = 0; run < 9 * 25;) {
    std::vector<std::uint32_t>& window = windows.emplace_back();
    for (; window.size() < lanes; ++run) window.push_back(run % 25 + 1000);
  }
  std::vector<std::size_t> columns;
  for (const auto& window : windows) columns.push_back(streams.column_of(window));
  EXPECT_EQ(streams.columns(), (25 + 2 * (lanes - 1)) / lanes * lanes);
  std::map<std::uint32_t, NumpyStream> expected;
  for (const int values : {3, 1000, 7, 312}) {
    streams.draw(values);
    std::map<std::uint32_t, std::vector<double>> drawn;
    for (std::uint32_t seed = 1000; seed < 1025; ++seed) {
      NumpyStream& stream = expected.try_emplace(seed, seed).first->second;
      for (int k = 0; k < values; ++k) drawn[seed].push_back(stream.unit());
    }
    for (std::size_t w = 0; w < windows.size(); ++w) {
      for (std::size_t l = 0; l < lanes; ++l)
        for (std::size_t k = 0; k < static_cast<std::size_t>(values); ++k)
          ASSERT_EQ(streams.uniform()[k * streams.columns() + columns[w] + l], drawn[windows[w][l]][k]);
    }
  }
}

TEST(LaneStream, LeavesOutTargetsThatNobodyWants) {
  const simd::Target& target = simd::active_target();
  const std::size_t lanes = static_cast<std::size_t>(target.float_lanes);
  const std::vector<LaneStream::Lane> runs(lanes, {3, paper_ranges()[6].train});
  SeedStreams streams(target);
  LaneStream all(target, streams, runs, 2), some(target, streams, runs, 2);
  streams.draw(256);
  AlignedVector<float> x(256 * lanes), y(256 * lanes), t(128 * lanes), u(128 * lanes), unused(128 * lanes);
  all.read(streams, 128, x.data(), {unused.data(), unused.data(), t.data(), unused.data()});
  some.read(streams, 128, y.data(), {nullptr, nullptr, u.data(), nullptr});
  EXPECT_EQ(x, y);
  EXPECT_EQ(t, u);
}

}  // namespace
}  // namespace nalm::single_module_lane_stream_test
