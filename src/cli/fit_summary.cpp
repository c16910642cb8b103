#include "cli/fit_summary.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formula/cases.hpp"
#include "formula/print.hpp"
#include "formula/rewrite.hpp"
#include "nalm/version.hpp"

namespace nalm::cli {

namespace {

constexpr int digits_of_alternatives = 5;

// 1 is for what is left by rounding alone.
std::string r_squared(const FitError& error) {
  const double value = 1 - error.relative * error.relative;
  if (!std::isfinite(value)) return "none";
  if (error.relative > 1e-7 && value > 0.99995) return ">0.9999";
  return value < -9.99 ? "<-10" : fmt::format("{:.4f}", value);
}

void add_error_line(std::string& text, const char* name, const FitError& error) {
  if (error.rows == 0) return;
  const std::string share = std::isfinite(error.relative) ? fmt::format("{:.3g} %", 100 * error.relative) : "no value";
  text += fmt::format("  {:<10} {:>8}   {:>9.3g}   {:>7}   {:>16}   {:>9.3g}\n", name, error.rows, error.rmse,
                      r_squared(error), share, error.largest);
}

std::string interval(double value, double low, double high) {
  const double half = (high - low) / 2, size = std::max(std::fabs(value), 1e-300);
  if (!std::isfinite(half)) return "not known";
  if (!(half > 1e-12 * size)) return "to rounding";
  const int digits = std::clamp(static_cast<int>(std::ceil(std::log10(size / half))) + 2, 2, 15);
  return fmt::format("between {:.{}g} and {:.{}g}", low, digits, high, digits);
}

std::string probe_text(const FitProbe& probe) {
  std::string box;
  for (const FitProbe::Range& r : probe.box) {
    box += fmt::format("{}{} from {:.4g} to {:.4g}", box.empty() ? "" : ", ", print(Expression::variable(r.column)),
                       r.probed_low, r.probed_high);
  }
  if (probe.remarks.empty()) return fmt::format("Outside  finite on the box twice as wide: {}\n", box);
  std::string text = fmt::format("Outside  on the box twice as wide ({}):\n", box);
  for (const std::string& remark : probe.remarks) text += fmt::format("  {}\n", remark);
  return text;
}

std::string groups_text(const FitGroups& groups, const std::string& unit_of_target) {
  const bool has_unit = groups.added && !unit_of_target.empty() && unit_of_target != "1";
  std::string text = fmt::format("Groups  the formula is that of {} = {}; for the others {} this constant{}\n",
                                 formula::print_name(groups.column), groups.groups.front().name,
                                 groups.added ? "add" : "multiply it with", has_unit ? ", in " + unit_of_target : "");
  std::size_t width = 0;
  for (const FitGroups::Group& group : groups.groups) width = std::max(width, group.name.size());
  for (const FitGroups::Group& group : groups.groups) {
    const bool first = &group == &groups.groups.front();
    text += fmt::format("  {:<{}}   {:>10.5g}   {}{} rows\n", group.name, width, group.value,
                        first ? "" : interval(group.value, group.low, group.high) + ", ", group.rows);
  }
  return text;
}

}  // namespace

std::string describe(const FitConstant& c) {
  const std::string value = print(Expression(c.value));
  std::string named = c.name.empty() ? value : fmt::format("{} = {:.7g}", formula::print_name(c.name), c.value);
  if (!c.unit.empty()) named += " " + c.unit;
  const std::string reach = interval(c.estimate, c.low, c.high);
  return c.snapped ? fmt::format("{}, fitted {:.7g}, {}", named, c.estimate, reach)
                   : fmt::format("{}, {}", named, reach);
}

std::string summary(const Fit& fit, const FitOptions& options, bool given, const std::string& again) {
  const Candidate& best = fit.best();
  std::string text;
  const std::string reason = std::string(1, static_cast<char>(std::toupper(fit.reason[0]))) + fit.reason.substr(1);
  const std::string formula = formula::print_cases(best.formula);
  if (fit.verdict() == Verdict::None) {
    text += fmt::format("{}.\n{}: {}\n", reason, given ? "The formula" : "The best was", formula);
  } else {
    text += fmt::format("{} = {}\n\n{}. {}.\n", formula::print_name(fit.target), formula,
                        fit.is_law() ? "Law" : "Approximation, for the inside of the data only", reason);
  }
  const char* unit = options.relative ? "rmse/target" : !options.sigma.empty() ? "rmse/sigma" : "rmse";
  text += fmt::format("\n  {:<10} {:>8} {:>11}   {:>7}   {:>16}   {:>9}\n", "rows", "number", unit, "R2",
                      "of the deviation", "largest");
  add_error_line(text, "training", best.train);
  add_error_line(text, "held out", best.held_out);
  add_error_line(text, "outside", best.outside);
  text += "\n";
  bool any = false;
  for (const FitConstant& c : best.constants) {
    if (std::fabs(c.value) == 1 && c.snapped) continue;
    if (!any) text += "Constants, with 99 % intervals\n";
    any = true;
    text += fmt::format("  {}\n", describe(c));
  }
  if (!fit.groups.groups.empty()) text += groups_text(fit.groups, fit.units.empty() ? "" : fit.units.back());
  text += probe_text(fit.probe);
  if (given) {
    if (fit.restarts > 0)
      text += fmt::format("Agreement  {} of {} starts end at these constants\n", best.agreeing, fit.restarts);
  } else {
    if (fit.restarts == 1 && !fit.units.empty())
      text += "Agreement  no search was needed: a product of columns that fits the units\n";
    else
      text += fmt::format("Agreement  {} of {} restarts that converged spell this formula ({} restarts in all)\n",
                          best.agreeing, fit.converged, fit.restarts);
    text +=
        fmt::format("The printed formula is {}the model: largest difference {:.2g} on {} rows and {} points outside\n",
                    fit.verified ? "" : "NOT ", fit.verification_error, fit.rows, fit.probe.points);
  }
  if (fit.candidates.size() > 1) {
    text += "\nAlternatives\n  size   error        formula\n";
    for (std::size_t k = 0; k < fit.candidates.size(); ++k) {
      const Candidate& c = fit.candidates[k];
      const bool chosen = k == fit.chosen;
      text += fmt::format("  {:>4}   {:<9.3g} {}  {}\n", c.size, c.train.rmse, chosen ? "*" : " ",
                          formula::print_cases(chosen ? c.formula : in_digits(c.formula, digits_of_alternatives)));
    }
  }
  for (const std::string& note : fit.notes) text += fmt::format("Note: {}.\n", note);
  if (fit.cut) text += "The search was cut short, so repeating it may give something else.\n";
  text += fmt::format("\n{:.1f} s with nalm {}. Again: {}\n", fit.seconds, version(), again);
  return text;
}

}  // namespace nalm::cli
