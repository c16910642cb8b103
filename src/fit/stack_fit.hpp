// One stack that the user names, trained with the modules' own habits; a scale and an offset stand behind it.
#pragma once

#include <functional>
#include <vector>

#include "fit/candidates.hpp"

namespace nalm::fitting {

struct StackWatch {
  std::function<bool()> stop;
  std::function<void(double share)> progress;
};

// One entry per restart, without what follows from its formula. Fails if the text is not a stack.
Result<std::vector<Finalist>> train_stack(const Data& data, const FitOptions& options, const StackWatch& watch,
                                          bool& cut);

}  // namespace nalm::fitting
