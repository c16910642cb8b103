// Which atoms are worth a ladder: how well sums of a few products explain the target, its square or their reciprocals
// if these atoms may be factors of them, by linear least squares on a few rows.
#pragma once

#include <vector>

#include "fit/functions/view.hpp"
#include "fit/search.hpp"
#include "fit/starts/products.hpp"

namespace nalm::fitting {

struct Trial {
  std::vector<Atom> atoms;
  double unexplained = 1;  // of the squares of the target, or of what stands for it
  double left = 1;         // of its deviation's squares
};

class Trials {
 public:
  Trials(const View& view, const FitOptions& options, const SearchWatch& watch);

  // Measures each and sorts them, those that explain most first.
  void try_all(std::vector<Trial>& trials, int tries) const;

  // The factor of the last atom's argument where it explains most.
  void refine(Trial& trial) const;

 private:
  void measure(Trial& trial, int tries) const;

  const FitOptions& options_;
  const SearchWatch& watch_;
  Data rows_;  // a few of the view's
  Dictionary dictionary_;
  std::vector<Goal> goals_;
  std::vector<double> spreads_;  // of goals: the share of their squares that is no mean
};

}  // namespace nalm::fitting
