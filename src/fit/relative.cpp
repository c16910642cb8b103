#include "fit/relative.hpp"

#include <cmath>
#include <string>

#include "fit/trust.hpp"
#include "formula/rewrite.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

std::optional<Data> around(const Expression& formula, const Data& data) {
  const std::vector<double> f = predictions(formula, data);
  Data rest = data;
  std::vector<double> roots;
  for (std::size_t r = 0; r < data.rows; ++r) {
    if (!(f[r] > 0) || !std::isfinite(f[r])) return std::nullopt;
    rest.y[r] = f[r] * (1 + portable::log(data.y[r] / f[r]));
    roots.push_back(1 / f[r]);
  }
  use_weights(rest, std::move(roots), true);
  measure_target(rest);
  return rest;
}

Result<Fit> fit_relative(Data& data, const std::function<Result<Fit>(const Data&)>& run) {
  constexpr int rounds_around = 3, digits_that_matter = 3;
  const Data measured = data;
  Result<Fit> fit = run(data);
  std::string before;
  for (int round = 0; round < rounds_around && fit && !fit->cut && !fit->candidates.empty(); ++round) {
    std::optional<Data> next = around(fit->best().formula, measured);
    std::string now = print(in_digits(fit->best().formula, digits_that_matter));
    if (!next || now == before) break;
    before = std::move(now);
    data = std::move(*next);
    fit = run(data);
  }
  return fit;
}

}  // namespace nalm::fitting
