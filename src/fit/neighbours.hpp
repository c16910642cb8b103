// Errors of rows that lie side by side are alike if something is missing in a formula, and are not if they are noise.
#pragma once

#include <string>
#include <vector>

#include "fit/tangent.hpp"

namespace nalm::fitting {

struct Pattern {
  double strength = 0;  // in standard deviations of what chance gives
  std::string along;    // a column, "the prediction" or "neighbouring rows"
};

// Which rows lie side by side: along each column, and in the space of all of them. That is the same for every formula.
class Neighbours {
 public:
  using Links = std::vector<std::vector<std::size_t>>;  // neighbours of each row

  Neighbours(const Data& data, const Places& places, int threads);

  // The strongest along the prediction, along each column, and among neighbours in the space of all columns and of
  // those in the formula.
  Pattern pattern_in(const Candidate& candidate, const Tangent& tangent) const;

 private:
  const Data& data_;
  std::size_t rows_ = 0, rows_in_space_ = 0;      // 0: too few to have neighbours
  std::vector<Links> along_;                      // each column
  std::vector<std::vector<double>> coordinates_;  // of rows in space
  Links in_space_;
};

}  // namespace nalm::fitting
