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

// How many rows each part of a search looks at. Few are enough to find a formula where there is little noise.
struct SearchRows {
  std::size_t dictionary = 128, picking = 96, training = 160, judgement = 256;
};

// waves: how many of the ladder, the smallest stacks first; 0: all.
SearchResult search(const Data& data, const FitOptions& options, const SearchWatch& watch, std::size_t waves = 0);

// The same on many more rows, beginning with what was found on few: with noise these do not tell a formula from its
// neighbours. Lengths are those of the many rows.
inline constexpr std::size_t fewest_of_many_rows = 1000;
enum class Outlook {
  Settled,   // it is a law, and nothing better is looked for
  Hopeless,  // few rows are enough to see that it is none, so that they would have led to a better one
  Open
};
using Outlooks = std::function<Outlook(const Found& best)>;
SearchResult search_many_rows(const Data& data, const FitOptions& options, const SearchWatch& watch,
                              SearchResult before, const Outlooks& outlook);

}  // namespace nalm::fitting
