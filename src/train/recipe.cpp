#include "nalm/recipe.hpp"

#include <algorithm>

#include "nalm/detail/portable.hpp"
#include "nalm/train.hpp"

namespace nalm {

double Regulariser::coefficient(long e) const {
  const double iteration = static_cast<double>(e);
  switch (kind) {
    case Kind::Sparsity:
    case Kind::Unit:
    case Kind::Grow:
      if (end <= start) return iteration >= start ? strength : 0;
      return strength * std::clamp((iteration - start) / (end - start), 0.0, 1.0);
    case Kind::Saturate:
      return iteration > start ? strength : 0;
    case Kind::L1: {
      double beta = strength;
      // Multiplied step by step, as a training loop would.
      for (double at = every; every > 0 && at <= iteration && beta < limit; at += every) beta *= growth;
      return limit > 0 ? std::min(beta, limit) : beta;
    }
  }
  return 0;
}

double Decay::at(long e) const { return portable::pow(factor, static_cast<double>(e / every)); }

double CoolDown::factor(long e) const {
  const double iteration = static_cast<double>(e);
  if (end <= start) return iteration < start ? 1 : 0;
  return 1 - std::clamp((iteration - start) / (end - start), 0.0, 1.0);
}

Recipe default_recipe(const Stack& stack) {
  Recipe result;
  result.layers.clear();
  for (const LayerSpec& spec : stack) {
    // check_stack says what is wrong with such a layer.
    Recipe own = spec.module && spec.module->recipe ? spec.module->recipe() : Recipe();
    result.training = std::move(own.training);
    result.layers.push_back(std::move(own.layers.front()));
  }
  return result;
}

}  // namespace nalm
