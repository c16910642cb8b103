// The search for formulas: restarts of a ladder of stacks, from one module to three layers.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"
#include "fit/refine.hpp"

namespace nalm::fitting {

struct Found {
  Form form;
  double mse = 0;     // on the search's rows, in units of the target's size
  double length = 0;  // description length
  std::string key;
};

struct SearchResult {
  std::vector<Found> found;     // best first, all different
  std::vector<Found> restarts;  // what each training came to
  bool cut = false;
};

struct SearchWatch {
  std::function<bool()> stop;
  std::function<void(double share, int restarts, const Found* best)> progress;
};

SearchResult search(const Data& data, const FitOptions& options, const SearchWatch& watch);

}  // namespace nalm::fitting
