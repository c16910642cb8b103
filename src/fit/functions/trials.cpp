#include "fit/functions/trials.hpp"

#include <algorithm>
#include <cmath>

#include "base/threads.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t rows_of_a_trial = 128, entries_of_a_trial = 600;
constexpr int terms_of_a_trial = 4;

double spread_of(const Goal& goal) {
  double weights = 0, sum = 0, squares = 0;
  for (std::size_t k = 0; k < goal.target.size(); ++k) {
    const double w = goal.weights[k] * goal.weights[k];
    weights += w, sum += w * goal.target[k], squares += w * goal.target[k] * goal.target[k];
  }
  return squares > 0 ? std::max(1 - sum * sum / (weights * squares), 1e-12) : 1;
}

}  // namespace

Trials::Trials(const View& view, const FitOptions& options, const SearchWatch& watch)
    : options_(options),
      watch_(watch),
      rows_(sample_of(view.data, rows_of_a_trial)),
      dictionary_(rows_, rows_.train, options.powers, entries_of_a_trial) {
  const std::vector<double>& y = dictionary_.target();
  const bool positive = std::all_of(y.begin(), y.end(), [](double value) { return value > 0; });
  for (const double power : {1.0, -1.0, 2.0, -2.0})
    if (positive || std::fabs(power) == 1)
      goals_.push_back(goal_for(dictionary_, power, std::vector<double>(y.size(), 1.0)));
  for (const Goal& goal : goals_) spreads_.push_back(spread_of(goal));
}

void Trials::measure(Trial& trial, int tries) const {
  std::vector<std::vector<double>> factors;
  for (const Atom& atom : trial.atoms) {
    factors.push_back(values_of(atom, rows_));
    if (factors.back().empty()) return;
  }
  const auto add_product = [&](std::size_t a, std::size_t b) {
    factors.push_back(factors[a]);
    for (std::size_t k = 0; k < factors[b].size(); ++k) factors.back()[k] *= factors[b][k];
  };
  for (std::size_t a = 0; a < trial.atoms.size(); ++a)
    for (std::size_t b = a; b < trial.atoms.size(); ++b) add_product(a, b);
  const Dictionary dictionary(dictionary_, factors);
  for (std::size_t g = 0; g < goals_.size(); ++g) {
    const ProductPicker picker(dictionary, goals_[g]);
    Xoshiro random(1);
    for (int k = 0; k < tries; ++k) {
      const Picked picked = picker.pick(terms_of_a_trial, k > 1, k % 2 == 0, random);
      // Plain sums are simpler.
      trial.unexplained = std::min(trial.unexplained, picked.unexplained * (g == 0 ? 1 : 1.5));
      trial.left = std::min(trial.left, picked.unexplained / spreads_[g]);
    }
  }
}

void Trials::try_all(std::vector<Trial>& trials, int tries) const {
  parallel_for(static_cast<int>(trials.size()), options_.threads, [&](int k) {
    Trial& trial = trials[static_cast<std::size_t>(k)];
    if (watch_.stop && watch_.stop()) return;
    measure(trial, tries);
  });
  std::stable_sort(trials.begin(), trials.end(),
                   [](const Trial& a, const Trial& b) { return a.unexplained < b.unexplained; });
}

void Trials::refine(Trial& trial) const {
  const auto at = [&](double factor) {
    Trial moved = trial;
    for (Term& term : moved.atoms.back().argument.terms) term.coefficient.value *= factor;
    moved.unexplained = moved.left = 1;
    measure(moved, 2);
    return moved;
  };
  double step = 1.3;
  for (int round = 0; round < 8 && trial.unexplained > 1e-16; ++round) {
    bool better = false;
    for (const double factor : {step, 1 / step}) {
      if (Trial moved = at(factor); moved.unexplained < trial.unexplained) trial = std::move(moved), better = true;
    }
    if (!better) step = std::sqrt(step);
  }
}

}  // namespace nalm::fitting
