// The search for formulas: restarts of a ladder of stacks, from one module to three layers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fit/data.hpp"
#include "fit/description.hpp"
#include "fit/form.hpp"

namespace nalm::fitting {

struct Found : Scored {
  std::string key;
};

inline bool is_exact(const Found& found) { return found.mse < rounding_level * rounding_level; }

struct SearchResult {
  std::vector<Found> found;     // best first, all different
  std::vector<Found> restarts;  // what each training came to
  bool cut = false;
};

struct SearchWatch {
  std::function<bool()> stop;
  std::function<void(double share, int restarts, const Found* best)> progress;
};

// waves: how many of the ladder, the smallest stacks first; 0: all.
SearchResult search(const Data& data, const FitOptions& options, const SearchWatch& watch, std::size_t waves = 0);

}  // namespace nalm::fitting
