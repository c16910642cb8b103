// One stack that the user names, trained with the modules' own habits; a scale and an offset stand behind it.
#pragma once

#include <functional>
#include <vector>

#include "fit/data.hpp"

namespace nalm::fitting {

struct TrainedStack {
  Model model;
  Expression formula;
  std::vector<FitConstant> constants;
  double mse = 0;  // on the training rows, in units of the target's size
};

struct StackWatch {
  std::function<bool()> stop;
  std::function<void(double share)> progress;
};

// One entry per restart. Fails if the text is not a stack.
Result<std::vector<TrainedStack>> train_stack(const Data& data, const FitOptions& options, const StackWatch& watch,
                                              bool& cut);

}  // namespace nalm::fitting
