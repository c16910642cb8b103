#include "report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/write_file.hpp"
#include "report/columns.hpp"

namespace nalm {
namespace {

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", text); }

std::string count_or_nothing(const std::optional<int>& count) { return count ? std::to_string(*count) : ""; }

std::string csv_estimate(const Estimate& e) {
  return fmt::format("{},{},{}", csv_number(e.value), csv_number(e.lo), csv_number(e.hi));
}

std::string csv(const Results& results) {
  std::string text =
      "module,operation,range,success,success_lo,success_hi,solved_at,solved_at_lo,solved_at_hi,"
      "sparsity,sparsity_lo,sparsity_hi,runs,successes,ever,at_end,published\n";
  for (const Cell& cell : results.cells) {
    const CellSummary& s = cell.summary;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", cell.pair.module->name, name_of(cell.pair.operation),
                        in_quotes(cell.range_name()), csv_estimate(s.success), csv_estimate(s.solved_at),
                        csv_estimate(s.sparsity), s.runs, s.successes, count_or_nothing(s.ever),
                        count_or_nothing(s.at_end), cell.published ? csv_number(cell.published->success.value) : "");
  }
  return text;
}

std::string json(const Results& results) {
  using nlohmann::json;
  const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(); };
  const auto estimate = [&](const Estimate& e, double median) {
    json value{{"value", number(e.value)}, {"lo", number(e.lo)}, {"hi", number(e.hi)}};
    if (!std::isnan(median)) value["median"] = median;
    return value;
  };
  json cells = json::array();
  const double none = std::nan("");
  for (const Cell& cell : results.cells) {
    const CellSummary& s = cell.summary;
    json runs = json::array();
    for (const JudgedRun& run : cell.runs) {
      json one{{"seed", run.seed},
               {"success", run.result.success},
               {"solved_at", run.result.solved_at ? json(*run.result.solved_at) : json()},
               {"best_step", run.result.best_step},
               {"validation_mse", number(run.result.validation_mse)},
               {"test_mse", number(run.result.test_mse)},
               {"sparsity_error", number(run.result.sparsity_error)}};
      if (run.result.ever) one["ever"] = *run.result.ever;
      if (run.result.at_end) one["at_end"] = *run.result.at_end;
      if (run.failure) one["failure"] = {{"kind", name_of(run.failure->kind)}, {"detail", run.failure->detail}};
      if (run.basin != Basin::NoRegulariser) one["before_regularisation"] = name_of(run.basin);
      runs.push_back(std::move(one));
    }
    const auto optional_count = [](const std::optional<int>& count) { return count ? json(*count) : json(); };
    cells.push_back({{"module", cell.pair.module->name},
                     {"operation", name_of(cell.pair.operation)},
                     {"range", cell.range_name()},
                     {"test_range", name_of(cell.range.test)},
                     {"inputs", results.info.grid.inputs},
                     {"threshold", number(cell.threshold)},
                     {"runs", s.runs},
                     {"successes", s.successes},
                     {"ever", optional_count(s.ever)},
                     {"at_end", optional_count(s.at_end)},
                     {"published", cell.published ? number(cell.published->success.value) : json()},
                     {"success", estimate(s.success, none)},
                     {"solved_at", estimate(s.solved_at, s.median_solved_at)},
                     {"sparsity", estimate(s.sparsity, s.median_sparsity)},
                     {"seeds", std::move(runs)}});
  }
  const json all{{"version", results.info.version},
                 {"criterion", describe(results.judgement.criterion)},
                 {"intervals", results.judgement.paper_intervals ? "paper" : "honest"},
                 {"cells", std::move(cells)}};
  return all.dump(1) + "\n";
}

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

std::string short_number(double value) {
  if (std::isnan(value)) return "";
  if (value == 0) return "0";
  return fmt::format("{:.2g}", value);
}

std::string steps(double value) { return fmt::format("{:.0f}", value); }

const std::vector<std::string> headings = {"module",
                                           "range",
                                           "solved",
                                           "ever",
                                           "at end",
                                           "success % [95 %]",
                                           "published",
                                           "solved at [95 %]",
                                           "sparsity error [95 %]"};

std::vector<std::string> row_of(const Cell& cell) {
  const CellSummary& s = cell.summary;
  return {std::string(cell.pair.module->name),
          cell.range_name(),
          fmt::format("{}/{}", s.successes, s.runs),
          count_or_nothing(s.ever),
          count_or_nothing(s.at_end),
          with_interval(s.success, percent),
          cell.published ? percent(cell.published->success.value) : "",
          with_interval(s.solved_at, steps),
          with_interval(s.sparsity, short_number)};
}

// The mean success rate of every pair over its ranges: one line each, with what was published.
std::string means(const Results& results, Operation operation) {
  Columns columns(1);
  columns.add({"mean over ranges", "solved", "success %", "published"});
  std::size_t rows = 0;
  for (const Pair& pair : results.info.grid.pairs) {
    if (pair.operation != operation) continue;
    int runs = 0, successes = 0, published = 0;
    double published_sum = 0;
    for (const Cell& cell : results.cells) {
      if (!(cell.pair == pair)) continue;
      runs += cell.summary.runs;
      successes += cell.summary.successes;
      if (cell.published) published_sum += cell.published->success.value, ++published;
    }
    if (runs == 0 || results.info.grid.ranges.size() < 2) continue;
    const bool whole = results.info.grid.ranges.size() == paper_ranges().size();
    const PublishedCell* mean = find_published_mean(pair.module->name, operation, results.info.grid.inputs);
    std::string theirs;
    if (whole && mean) theirs = fmt::format("{:.1f}", 100 * mean->success.value);
    if (whole && published == static_cast<int>(paper_ranges().size()))
      theirs = fmt::format("{:.1f}", 100 * published_sum / published);
    columns.add({std::string(pair.module->name), fmt::format("{}/{}", successes, runs),
                 fmt::format("{:.1f}", 100.0 * successes / runs), theirs});
    ++rows;
  }
  return rows > 0 ? columns.print() : "";
}

std::string_view title_of(Operation operation) {
  switch (operation) {
    case Operation::Add:
      return "Addition";
    case Operation::Subtract:
      return "Subtraction";
    case Operation::Multiply:
      return "Multiplication";
    case Operation::Divide:
      return "Division";
  }
  return "";
}

std::vector<const Cell*> cells_of(const Results& results, Operation operation) {
  std::vector<const Cell*> cells;
  for (const Cell& cell : results.cells)
    if (cell.pair.operation == operation) cells.push_back(&cell);
  return cells;
}

std::string footnote(const Results& results) {
  std::string note = fmt::format(
      "Success: {}. Solved: at the step with the smallest validation error; ever: at any logged step; at end: at the "
      "last one.",
      describe(results.judgement.criterion));
  note += results.judgement.paper_intervals
              ? " Estimates and intervals as the paper computed them."
              : " Success with Wilson's interval; solved-at and sparsity error: mean over successful runs, with gamma "
                "and beta likelihood intervals.";
  if (results.missing > 0) note += fmt::format(" {} runs are missing: the benchmark is not finished.", results.missing);
  return note;
}

std::string terminal(const Results& results) {
  std::string text;
  for (const Operation operation : all_operations) {
    const std::vector<const Cell*> cells = cells_of(results, operation);
    if (cells.empty()) continue;
    Columns columns(2);
    columns.add(headings);
    for (const Cell* cell : cells) columns.add(row_of(*cell));
    text += fmt::format("{}\n{}\n", title_of(operation), columns.print());
    if (const std::string lines = means(results, operation); !lines.empty()) text += lines + "\n";
  }
  return text + footnote(results) + "\n";
}

std::string markdown(const Results& results) {
  std::string text;
  for (const Operation operation : all_operations) {
    const std::vector<const Cell*> cells = cells_of(results, operation);
    if (cells.empty()) continue;
    text += fmt::format("### {}\n\n", title_of(operation));
    Columns columns(2);
    columns.add(headings);
    for (const Cell* cell : cells) columns.add(row_of(*cell));
    text += columns.markdown();
    text += "\n";
  }
  return text + footnote(results) + "\n";
}

// ---- LaTeX, in the paper's layout
// --------------------------------------------------------------------------------------

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

std::string latex(const Results& results) {
  std::string text = "% Needs \\usepackage{booktabs}.\n";
  for (const Operation operation : all_operations) {
    std::vector<const Cell*> cells = cells_of(results, operation);
    if (cells.empty()) continue;
    // Modules by name; ranges as text, the way the paper's software sorts them: as numbers would come out otherwise.
    std::stable_sort(cells.begin(), cells.end(), [](const Cell* a, const Cell* b) {
      return std::pair(a->pair.module->name, a->range_name()) < std::pair(b->pair.module->name, b->range_name());
    });
    text += fmt::format(
        "\\begin{{table}}[h]\n\\caption{{{}: success rate, iteration at which the task is solved, and sparsity error, "
        "with 95\\% intervals over {} seeds.}}\n\\centering\n\\begin{{tabular}}{{llccc}}\n\\toprule\n"
        "Model & Range & Success & Solved at & Sparsity error \\\\\n",
        title_of(operation), results.info.grid.seeds.size());
    const ModuleInfo* last = nullptr;
    for (const Cell* cell : cells) {
      // Bold: the best of a module's ranges, ties included.
      double most = -1, soonest = HUGE_VAL, sparsest = HUGE_VAL;
      for (const Cell* other : cells) {
        if (other->pair.module != cell->pair.module) continue;
        most = std::fmax(most, other->summary.success.value);
        soonest = std::fmin(soonest, other->summary.solved_at.value);
        sparsest = std::fmin(sparsest, other->summary.sparsity.value);
      }
      const CellSummary& s = cell->summary;
      if (cell->pair.module != last) text += "\\midrule\n";
      text += fmt::format("{} & {} & {} & {} & {} \\\\\n",
                          cell->pair.module != last ? latex_name(cell->pair.module->name) : "", cell->range_name(),
                          latex_percent(s.success, s.success.value == most),
                          latex_estimate(s.solved_at, s.solved_at.value == soonest),
                          latex_estimate(s.sparsity, s.sparsity.value == sparsest));
      last = cell->pair.module;
    }
    text += "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
  }
  return text;
}

}  // namespace

std::string print_table(const Results& results, TableFormat format) {
  switch (format) {
    case TableFormat::Terminal:
      return terminal(results);
    case TableFormat::Csv:
      return csv(results);
    case TableFormat::Markdown:
      return markdown(results);
    case TableFormat::Json:
      return json(results);
    case TableFormat::Latex:
      return latex(results);
  }
  return "";
}

std::string print_overview(const Results& results) {
  std::string text;
  for (const Operation operation : all_operations) {
    const std::vector<const Cell*> cells = cells_of(results, operation);
    if (cells.empty()) continue;
    Columns columns(1);
    const auto solved = [](const Cell& cell) {
      return cell.summary.runs ? fmt::format("{}/{}", cell.summary.successes, cell.summary.runs) : std::string("-");
    };
    std::vector<std::string> heading{"range"};
    std::size_t width = 12;
    for (const Pair& pair : results.info.grid.pairs) {
      if (pair.operation != operation) continue;
      heading.emplace_back(pair.module->name);
      width += pair.module->name.size() + 2;
    }
    if (width > 110) {  // many modules: the other way round
      heading = {"module"};
      for (const TaskRange& range : results.info.grid.ranges) heading.push_back(name_of(range.train));
      columns.add(heading);
      for (const Pair& pair : results.info.grid.pairs) {
        if (pair.operation != operation) continue;
        std::vector<std::string> row{std::string(pair.module->name)};
        for (const Cell* cell : cells)
          if (cell->pair == pair) row.push_back(solved(*cell));
        columns.add(row);
      }
      text += fmt::format("{}: runs solved\n{}\n", title_of(operation), columns.print());
      continue;
    }
    columns.add(heading);
    for (const TaskRange& range : results.info.grid.ranges) {
      std::vector<std::string> row{name_of(range.train)};
      for (const Cell* cell : cells) {
        if (cell->range_name() != row.front()) continue;
        row.push_back(solved(*cell));
      }
      columns.add(row);
    }
    text += fmt::format("{}: runs solved\n{}\n", title_of(operation), columns.print());
  }
  return text;
}

Status write_series(const RunStore& store, const std::string& path) {
  const Result<StoreInfo> info = store.info();
  if (!info) return info.error();
  FileWriter file(path);
  file.write("module,operation,range,seed,step,validation_mse,test_mse,sparsity_error\n");
  const auto number = [](double value) { return std::isnan(value) ? std::string("nan") : fmt::format("{}", value); };
  for (const Pair& pair : info->grid.pairs) {
    const Result<std::vector<Run>> runs = store.runs(pair);
    if (!runs) return runs.error();
    for (const Run& run : *runs) {
      const Series& s = run.series;
      const std::string name = fmt::format("{},{},{},{}", run.id.module->name, name_of(run.id.operation),
                                           in_quotes(name_of(run.id.range.train)), run.id.seed);
      for (std::size_t r = 0; r < s.rows(); ++r) {
        // Errors are floats: the shortest text of the float, not of the double it widens to.
        file.write(fmt::format("{},{},{},{},{}\n", name, s.steps[r],
                               std::isnan(s.validation_mse[r]) ? "nan" : fmt::format("{}", s.validation_mse[r]),
                               std::isnan(s.test_mse[r]) ? "nan" : fmt::format("{}", s.test_mse[r]),
                               number(s.sparsity_error[r])));
      }
    }
  }
  return file.finish();
}

}  // namespace nalm
