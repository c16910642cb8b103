// How a model computes its output, as a lesson: what was learned, what is made of it, and every step with its numbers
// filled in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm {

struct LessonLine {
  enum class Kind { Learned, Weight, Step, Output };
  Kind kind = Kind::Step;
  std::string name, formula;  // formula: empty, or in words, for what was learned
  std::vector<int> dimensions{};
  std::vector<double> values{};
  // For each value the formula with its numbers, such as 2*1 + 3*(-1) + 4*0; empty where it would be too long to read.
  std::vector<std::string> worked{};
};
struct LessonLayer {
  const Layer* layer = nullptr;
  std::vector<double> inputs{};
  std::vector<LessonLine> lines{};
};

// The layers are those of the model, which must outlive the lesson.
Result<std::vector<LessonLayer>> lesson(const Model& model, std::span<const double> input);

// A number with six digits.
std::string lesson_number(double value);

}  // namespace nalm
