#include "fit/functions/atoms.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

Atom atom_of(std::string_view function, std::vector<Term> terms) {
  return {std::string(function), {std::move(terms)}, true};
}

}  // namespace

std::vector<Atom> simple_atoms(const View& view, const FitOptions& options) {
  const std::size_t I = view.columns();
  std::vector<Atom> atoms;
  const auto allowed = [&](std::string_view f) {
    return std::find(options.functions.begin(), options.functions.end(), f) != options.functions.end();
  };
  // factors: of waves, and of what grows or saturates; `scale` is the size of the argument without a factor.
  const auto add = [&](const std::vector<Term>& terms, double scale, bool simple) {
    const auto times = [&](std::string_view function, double factor) {
      std::vector<Term> scaled = terms;
      for (Term& term : scaled) term.coefficient = {term.coefficient.value * factor, true};
      atoms.push_back(atom_of(function, std::move(scaled)));
    };
    const std::vector<double> waves = simple ? std::vector<double>{1, 2, 0.5} : std::vector<double>{1};
    for (const std::string_view wave : {"cos", "sin"})
      for (const double factor : waves)
        if (allowed(wave)) times(wave, factor);
    std::vector<double> rates = {1};
    if (simple || scale > 20 || scale < 0.05) rates = {1, 0.5 / scale, 2 / scale};
    for (const double rate : rates) {
      if (allowed("exp")) times("exp", rate), times("exp", -rate);
      if (allowed("tanh")) times("tanh", rate);
    }
    for (const std::string_view inverse : {"asin", "acos"})
      if (allowed(inverse)) times(inverse, 1);
    if (allowed("log") && simple) times("log", 1);
  };
  const std::vector<double>& size = view.data.x_scale;
  for (std::size_t i = 0; i < I; ++i) {
    const Term column{{1, true}, power_of_column(I, i, 1)};
    add({column}, size[i], true);
    if (allowed("log")) {
      atoms.push_back(atom_of("log", {column, {{1, true}, PowerList(I, 0.0)}}));
      atoms.push_back(atom_of("log", {{{1, true}, power_of_column(I, i, 2)}, {{1, true}, PowerList(I, 0.0)}}));
    }
    for (const double power : {2.0, -1.0})
      add({{{1, true}, power_of_column(I, i, power)}}, portable::pow(size[i], power), false);
  }
  for (std::size_t i = 0; i < I; ++i) {
    for (std::size_t j = i + 1; j < I; ++j) {
      const Term a{{1, true}, power_of_column(I, i, 1)};
      const double ratio = size[i] / size[j];
      if (ratio < 100 && ratio > 0.01) {
        for (const double sign : {-1.0, 1.0}) add({a, {{sign, true}, power_of_column(I, j, 1)}}, size[i], false);
      }
      for (const auto& [p, q] : {std::pair{1.0, 1.0}, {1.0, -1.0}, {-1.0, 1.0}}) {
        PowerList powers = power_of_column(I, i, p);
        powers[j] = q;
        add({{{1, true}, powers}}, portable::pow(size[i], p) * portable::pow(size[j], q), false);
      }
    }
  }
  return atoms;
}

}  // namespace nalm::fitting

std::vector<std::string> nalm::read_functions(std::string_view text) {
  if (text == "all") return {std::begin(fit_functions), std::end(fit_functions)};
  std::vector<std::string> names;
  for (const std::string_view name : split(text))
    if (!name.empty()) names.emplace_back(name);
  return names;
}
