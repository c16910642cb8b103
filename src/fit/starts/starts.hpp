// Where the trainings of a rung start.
#pragma once

#include <map>
#include <vector>

#include "fit/rung_stack.hpp"
#include "fit/search.hpp"
#include "fit/starts/factors.hpp"
#include "fit/starts/products.hpp"
#include "fit/starts/ratios.hpp"

namespace nalm::fitting {

class Starts {
 public:
  Starts(const Data& data, const FitOptions& options, const SearchRows& rows);

  // What all restarts of a rung share. Before the first start().
  void prepare(const Rung& rung);

  // The first restart of a rung takes what looks best; in the others is chance. rows: those that it is trained on.
  Run start(const Rung& rung, int restart, const std::vector<std::size_t>& rows, Xoshiro& random) const;

 private:
  Run one_product(const std::vector<std::size_t>& rows, bool chance, Xoshiro& random) const;
  Run picked(const Rung& rung, bool chance, Xoshiro& random) const;
  Run factored(const Rung& rung, bool chance, Xoshiro& random) const;
  Run nested(const Rung& rung, Xoshiro& random) const;
  Run products_run(const std::vector<PowerList>& products, const std::vector<std::vector<double>>& factors,
                   const std::vector<double>& constants, const std::vector<double>& outer, Xoshiro& random) const;

  const Data& data_;
  const FitOptions& options_;
  const std::vector<std::size_t> rows_;
  const Dictionary dictionary_;
  RatioPicker ratios_;
  bool ratios_ranked_ = false;
  FactorPicker factors_;
  std::map<double, ProductPicker> products_;  // for a power of the target
};

}  // namespace nalm::fitting
