// Madsen and Johansen's Arithmetic Dataset Task: which inputs belong together, and how large an error may be.
#pragma once

#include <optional>
#include <string>

#include "tasks/subset_sums.hpp"

namespace nalm {

// The shape of the function: two runs of neighbouring inputs that overlap.
struct SubsetShape {
  int inputs = 100;
  double ratio = 0.25;   // of the inputs that a subset has
  double overlap = 0.5;  // of a subset that both have
  bool simple = false;   // instead: one subset is all inputs, the other one their first half
};

// What is drawn, and how wide the layer of sums is.
struct SubsetSetting {
  std::string name;
  Range train, test;
  SubsetShape shape;
  int hidden = 2;
  std::optional<double> strength{};  // of the regulariser, instead of the network's
};

// One of the task's networks.
struct SubsetNetwork {
  std::string_view name, layers;  // {} is the hidden size
  double strength, start, end;    // of the regularisers; strength 0: none
  bool clamp = true;              // whether weights are held within their modules' bounds
};

Cell subset_cell(const SubsetNetwork& network, SubsetOperation operation, const SubsetSetting& setting,
                 long iterations);

// At an offset drawn from the run's seed.
Subsets subsets_of(const SubsetShape& shape, std::uint32_t seed);

// Which subsets the almost right model has: those of the data, or, as in the published thresholds, one element more.
enum class ThresholdSubsets { OfTheData, AsPublished };

// The mean squared error, over the test range, of the right model with every weight of its first layer off by epsilon:
// 1 - epsilon inside the subsets, epsilon outside.
double arithmetic_dataset_threshold(SubsetOperation operation, const Range& test, const SubsetShape& shape,
                                    ThresholdSubsets subsets, double epsilon = 1e-5);

}  // namespace nalm
