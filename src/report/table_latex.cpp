#include "report/table_latex.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/columns.hpp"

namespace nalm {
namespace {

// One digit after the point, as the paper prints: "1.4e-05" becomes 1.4 and -5.
struct Scientific {
  double mantissa;
  int exponent;
};
Scientific scientific(double value) {
  int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  // 9.96 would print as 10.0 (and does in the paper).
  if (std::fabs(value) / std::pow(10.0, exponent) >= 9.95) ++exponent;
  return {value / std::pow(10.0, exponent), exponent};
}

std::string latex_number(double value) {
  if (value == 0) return "0";
  const Scientific s = scientific(value);
  return fmt::format("{:.1f} \\cdot 10^{{{}}}", s.mantissa, s.exponent);
}

// Mean with the distances to the ends of its interval.
std::string latex_estimate(const Estimate& e, bool bold) {
  if (std::isnan(e.value)) return "---";
  const std::string value = latex_number(e.value);
  std::string text = bold ? fmt::format("\\mathbf{{{}}}", value) : value;
  if (!std::isnan(e.lo))
    text += fmt::format(" {{~}}^{{+{}}}_{{-{}}}", latex_number(e.hi - e.value), latex_number(e.value - e.lo));
  return "$" + text + "$";
}

std::string latex_percent(const Estimate& e, bool bold) {
  if (std::isnan(e.value)) return "---";
  const auto whole = [](double value) { return fmt::format("{:.0f}\\%", 100 * value); };
  const std::string value = bold ? fmt::format("\\mathbf{{{}}}", whole(e.value)) : whole(e.value);
  return fmt::format("${} {{~}}^{{+{}}}_{{-{}}}$", value, whole(e.hi - e.value), whole(e.value - e.lo));
}

std::string latex_name(std::string_view module) {
  std::string name;
  for (const char c : module)
    name += c == '+' ? "$_{+}$" : c == '*' ? "$_{\\bullet}$" : c == '_' ? "\\_" : std::string(1, c);
  return name;
}

}  // namespace

std::string survey_latex(const Results& results) {
  std::string text = "% Needs \\usepackage{booktabs}.\n";
  const std::vector<std::string> changes = results.info.plan.changes();
  const std::string changed =
      changes.empty() ? "" : latex_text(fmt::format(" Not the survey's settings: {}.", fmt::join(changes, " ")));
  for (const std::string& operation : results.operations()) {
    std::vector<const CellResult*> cells;
    for (const CellResult& cell : results.results)
      if (cell.cell->operation == operation) cells.push_back(&cell);
    // Modules by name; ranges as text, the way the paper's software sorts them: as numbers would come out otherwise.
    std::stable_sort(cells.begin(), cells.end(), [](const CellResult* a, const CellResult* b) {
      return std::pair(a->cell->model, a->cell->setting) < std::pair(b->cell->model, b->cell->setting);
    });
    text += fmt::format(
        "\\begin{{table}}[h]\n\\caption{{{}: success rate, iteration at which the task is solved, and sparsity error, "
        "with 95\\% intervals over {} seeds.{}}}\n\\centering\n\\begin{{tabular}}{{llccc}}\n\\toprule\n"
        "Model & Range & Success & Solved at & Sparsity error \\\\\n",
        operation_title(operation), results.info.plan.seeds.size(), changed);
    std::string last;
    for (const CellResult* cell : cells) {
      // Bold: the best of a module's ranges, ties included.
      double most = -1, soonest = HUGE_VAL, sparsest = HUGE_VAL;
      for (const CellResult* other : cells) {
        if (other->cell->model != cell->cell->model) continue;
        most = std::fmax(most, other->success.value);
        soonest = std::fmin(soonest, other->solved_at.value);
        sparsest = std::fmin(sparsest, other->sparsity.value);
      }
      const bool first = cell->cell->model != last;
      if (first) text += "\\midrule\n";
      text += fmt::format("{} & {} & {} & {} & {} \\\\\n", first ? latex_name(cell->cell->model) : "",
                          cell->cell->setting, latex_percent(cell->success, cell->success.value == most),
                          latex_estimate(cell->solved_at, cell->solved_at.value == soonest),
                          latex_estimate(cell->sparsity, cell->sparsity.value == sparsest));
      last = cell->cell->model;
    }
    text += "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
  }
  return text;
}

}  // namespace nalm
