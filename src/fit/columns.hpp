// Which columns and rows of a table a fit uses, and what each row counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "nalm/fit.hpp"

namespace nalm::fitting {

inline constexpr std::size_t rows_of_a_group = 3;  // at least

struct Chosen {
  std::size_t target = 0;
  std::vector<std::size_t> inputs;
  std::optional<std::size_t> by, weights, sigma;

  // All whose cells must be there.
  std::vector<std::size_t> needed() const {
    std::vector<std::size_t> all = inputs;
    for (const auto& column : {weights, sigma})
      if (column) all.push_back(*column);
    all.push_back(target);
    return all;
  }
};

struct ChosenRows {
  std::size_t complete = 0;  // rows with all values and a weight above 0, repeated ones too
  std::vector<std::size_t> rows;
  std::vector<double> roots;  // of the weights: 1/sigma, 1/|target| or the root of the weight; empty: all count alike
};

// Notes say what was left out, and why.
Result<Chosen> choose_columns(const Table& table, const FitOptions& options, std::vector<std::string>& notes);
Result<ChosenRows> choose_rows(const Table& table, const FitOptions& options, const Chosen& chosen,
                               std::vector<std::string>& notes);

}  // namespace nalm::fitting
