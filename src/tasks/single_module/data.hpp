// The data of the Single Module Arithmetic Task, drawn as the reference software draws it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "nalm/module.hpp"

namespace nalm {

// [lo, hi), or two parts of equal width of which a fair coin picks one for every element.
struct Range {
  double lo = 0, hi = 0;
  struct Part {
    double lo = 0, hi = 0;
  };
  std::optional<Part> second;
};

struct TaskRange {
  Range train;  // and validation
  Range test;
};

// The nine ranges of the paper, in its order.
std::span<const TaskRange> paper_ranges();

inline constexpr std::uint32_t validation_seed = 43953907;
inline constexpr std::uint32_t test_seed = 8689336;

// What a run seed decides about the data: where the two operands stand, and the stream of training batches.
struct OperandPlace {
  int first_operand = 0;  // the second one stands beside it
  std::uint32_t train_seed = 0;

  OperandPlace(std::uint32_t run_seed, int inputs);
};

// Inputs and targets as the network sees them: computed in double, each rounded to float.
struct Samples {
  std::vector<float> x;  // samples x inputs
  std::vector<float> t;
};

// The next rows of a stream.
Samples draw(NumpyStream& stream, const Range& range, Operation operation, int inputs, int first_operand, int rows);

}  // namespace nalm
