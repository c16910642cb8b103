// What a Trainer holds.
#pragma once

#include <string>
#include <vector>

#include "nalm/train.hpp"
#include "train/bundle.hpp"

namespace nalm {

struct Trainer::State {
  Settings settings;
  // One or the other, by precision.
  std::vector<Bundle<float>> in_float;
  std::vector<Bundle<double>> in_double;
  std::vector<bool> started;  // by run
  std::string failure;        // of an earlier train(), after which runs may be at different iterations

  // f(bundles) for the precision that it has.
  template <class F>
  auto with_all(F f) {
    return settings.precision == Precision::Float ? f(in_float) : f(in_double);
  }
  // f(bundle, lane) for the bundle that holds a run.
  template <class F>
  auto with(int run, F f) {
    return with_all([&](auto& bundles) {
      const int lanes = bundles.front().lanes();
      return f(bundles[static_cast<std::size_t>(run / lanes)], run % lanes);
    });
  }
  Status check_run(int run) const;
  // Ready for start values: in range, and nothing trained yet.
  Status check_start(int run);
  Status check_started() const;
};

}  // namespace nalm
