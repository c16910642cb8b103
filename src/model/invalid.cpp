#include <cmath>

#include "nalm/invalid.hpp"

namespace nalm {

std::string_view name_of(Invalid reason) {
  static constexpr std::string_view names[] = {"", "not finite", "pole"};
  return names[static_cast<std::size_t>(reason)];
}

Result<std::vector<Invalid>> invalid_rows(const Model& model, std::span<const double> rows,
                                          std::span<const double> results) {
  const std::vector<std::string> columns = model.column_names();
  const Result<Formula> formula = ideal_formula(model, columns);
  if (!formula) return formula.error();
  const std::size_t inputs = static_cast<std::size_t>(model.inputs()),
                    outputs = static_cast<std::size_t>(model.outputs());
  std::vector<Invalid> reasons;
  for (std::size_t r = 0; r < results.size() / outputs; ++r) {
    Invalid reason = Invalid::No;
    for (std::size_t o = 0; o < outputs && reason != Invalid::NotFinite; ++o) {
      const Result<double> meant = evaluate(formula->outputs[o], columns, rows.subspan(r * inputs, inputs));
      if (!meant) return meant.error();
      if (!std::isfinite(results[r * outputs + o])) {
        reason = Invalid::NotFinite;
      } else if (!std::isfinite(*meant)) {
        reason = Invalid::Pole;
      }
    }
    reasons.push_back(reason);
  }
  return reasons;
}

}  // namespace nalm
