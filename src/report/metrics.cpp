// One function per metric, and one line in the list below.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/table.hpp"

namespace nalm {
namespace {

constexpr double schloers_limit = 1e-5;

std::string count_or_nothing(const std::optional<int>& count) { return count ? std::to_string(*count) : ""; }

std::string text_of(const Spread& spread) {
  if (std::isnan(spread.median)) return "";
  return fmt::format("{:.3g} +- {:.2g}", spread.median, spread.mad);
}

std::string whole(double value) { return fmt::format("{:.0f}", value); }
std::string two_digits(double value) { return value == 0 ? "0" : fmt::format("{:.2g}", value); }

bool is_grid(const Sheet& sheet) { return sheet.results.task().layout == Task::Layout::Grid; }

void add_estimate(Sheet& sheet, const std::string& name, const std::function<Estimate(const CellResult&)>& estimate) {
  sheet.csv.push_back({name, [=](const CellResult& c) { return csv_number(estimate(c).value); }});
  sheet.csv.push_back({name + "_lo", [=](const CellResult& c) { return csv_number(estimate(c).lo); }});
  sheet.csv.push_back({name + "_hi", [=](const CellResult& c) { return csv_number(estimate(c).hi); }});
}

// Published figures for programs: numbers, separated by semicolons.
std::function<std::string(const CellResult&)> published_numbers(const Sheet& sheet, const std::string& what) {
  return [&results = sheet.results, what](const CellResult& cell) {
    std::vector<std::string> values;
    for (const PublishedFigure* figure : results.published_for(*cell.cell, what))
      values.push_back(csv_number(figure->value.value));
    return fmt::format("{}", fmt::join(values, ";"));
  };
}

// Nothing for cells that only measure.
std::function<std::string(const CellResult&)> if_judged(const std::function<std::string(const CellResult&)>& text) {
  return [text](const CellResult& cell) { return cell.cell->has_goal() ? text(cell) : ""; };
}

// The two kinds of tables have had their columns in different orders and by different names since they were first
// published, and programs read them by those.
void success_for_programs(Sheet& sheet) {
  const auto add = [&](std::string name, std::function<std::string(const CellResult&)> text) {
    sheet.csv.push_back({std::move(name), if_judged(std::move(text))});
  };
  const auto runs = [](const CellResult& c) { return std::to_string(c.run_count()); };
  const auto successes = [](const CellResult& c) { return std::to_string(c.successes); };
  const auto ever = [](const CellResult& c) { return count_or_nothing(c.ever); };
  const auto at_end = [](const CellResult& c) { return count_or_nothing(c.at_end); };
  const auto limit = [](const CellResult& c) { return csv_number(c.limit); };
  const auto success = [](const CellResult& c) { return c.success; };
  const auto median_solved_at = [](const CellResult& c) { return csv_number(c.median_solved_at); };
  if (is_grid(sheet)) {
    add_estimate(sheet, "success", success);
    add_estimate(sheet, "solved_at", [](const CellResult& c) { return c.solved_at; });
    add_estimate(sheet, "sparsity", [](const CellResult& c) { return c.sparsity; });
    add("runs", runs);
    add("successes", successes);
    add("ever", ever);
    add("at_end", at_end);
    add("published", published_numbers(sheet, "success"));
    add("limit", limit);
    add("solved_at_median", median_solved_at);
  } else {
    sheet.csv.push_back({"runs", runs});
    add("limit", limit);
    add("successes", successes);
    add_estimate(sheet, "success", success);
    for (auto column = sheet.csv.end() - 3; column != sheet.csv.end(); ++column) column->text = if_judged(column->text);
    add("success_published", published_numbers(sheet, "success"));
    add("ever", ever);
    add("at_end", at_end);
    add("solved_at", median_solved_at);
    add("solved_at_published", published_numbers(sheet, "solved-at"));
  }
}

void success(Sheet& sheet) {
  success_for_programs(sheet);
  const auto add = [&](std::string name, std::function<std::string(const CellResult&)> text) {
    sheet.people.push_back({std::move(name), if_judged(std::move(text))});
  };
  add("solved", [](const CellResult& c) { return fmt::format("{}/{}", c.successes, c.run_count()); });
  add("ever", [](const CellResult& c) { return count_or_nothing(c.ever); });
  add("at end", [](const CellResult& c) { return count_or_nothing(c.at_end); });
  add("success % [95 %]", [](const CellResult& c) { return with_interval(c.success, percent); });
  add("published", [&sheet](const CellResult& c) { return sheet.published(c, "success", 100); });
  if (is_grid(sheet)) {
    add("solved at [95 %]", [](const CellResult& c) { return with_interval(c.solved_at, whole); });
    add("sparsity error [95 %]", [](const CellResult& c) { return with_interval(c.sparsity, two_digits); });
  } else {
    add("solved at", [](const CellResult& c) {
      return std::isnan(c.median_solved_at) ? "-" : fmt::format("{:.0f}", c.median_solved_at);
    });
    add("published", [&sheet](const CellResult& c) { return sheet.published(c, "solved-at"); });
  }
  const auto& cells = sheet.results.cells;
  if (std::none_of(cells.begin(), cells.end(), [](const Cell& c) { return c.has_goal(); })) return;
  std::string note =
      fmt::format("Solved: {}; ever: at any logged iteration; at end: at the last one. ", describe_goal(sheet.results));
  if (sheet.results.judgement.paper_intervals) {
    note += "Estimates and intervals as the paper computed them.";
  } else if (is_grid(sheet)) {
    note +=
        "Success with Wilson's interval; solved-at and sparsity error: mean over successful runs, with gamma and beta "
        "likelihood intervals.";
  } else {
    note += "Success with Wilson's interval; solved at: the median first such iteration of the runs that succeeded.";
  }
  sheet.notes.push_back(std::move(note));
}

// "mae" of "mae at 1e7": the same at growing sizes of the numbers, too many for a column each.
std::string sized_kind(std::string_view measure) {
  const std::size_t at = measure.rfind(" at 1e");
  return std::string(measure.substr(0, at == measure.npos ? 0 : at));
}

void mad(Sheet& sheet) {
  std::map<std::string, std::vector<std::string>> sizes;
  for (const std::string& measure : sheet.results.measure_names())
    if (std::string kind = sized_kind(measure); !kind.empty()) sizes[kind].push_back(measure);
  std::erase_if(sizes, [](const auto& of) { return of.second.size() < 3; });
  for (const std::string& measure : sheet.results.measure_names()) {
    const auto of = [measure](auto print) {
      return [measure, print](const CellResult& cell) {
        const Spread* spread = cell.spread(measure);
        return spread ? print(*spread) : std::string();
      };
    };
    sheet.csv.push_back({measure + "_median", of([](const Spread& s) { return csv_number(s.median); })});
    sheet.csv.push_back({measure + "_mad", of([](const Spread& s) { return csv_number(s.mad); })});
    sheet.csv.push_back({measure + "_published", published_numbers(sheet, measure)});
    if (const auto sized = sizes.find(sized_kind(measure)); sized == sizes.end()) {
      sheet.people.push_back({measure, of(text_of)});
    } else if (const std::vector<std::string> all = sized->second; measure == all.front()) {
      // A cell may have fewer sizes than others.
      const auto ends = [all](const CellResult& cell) {
        std::vector<std::string> medians;
        for (const std::string& size : all)
          if (const Spread* spread = cell.spread(size); spread && !std::isnan(spread->median))
            medians.push_back(fmt::format("{:.3g}", spread->median));
        if (medians.empty()) return std::string();
        return medians.front() == medians.back() ? medians.back() : medians.front() + " to " + medians.back();
      };
      sheet.people.push_back({fmt::format("{} to {}", measure, all.back().substr(sized->first.size() + 4)), ends});
    }
    sheet.people.push_back(
        {"published", [&sheet, measure](const CellResult& c) { return sheet.published(c, measure); }});
  }
  sheet.notes.push_back("Measures at the judged row: median +- median of the absolute deviations from it (Heim).");
  if (!sizes.empty())
    sheet.notes.push_back(
        "At several sizes of the numbers: the medians at the smallest and at the largest; CSV has all.");
}

void trask(Sheet& sheet) {
  sheet.csv.push_back({"trask_median", [](const CellResult& c) { return csv_number(c.trask.median); }});
  sheet.csv.push_back({"trask_mad", [](const CellResult& c) { return csv_number(c.trask.mad); }});
  sheet.csv.push_back({"trask_published", published_numbers(sheet, "trask")});
  sheet.people.push_back({"% of start", [](const CellResult& c) { return text_of(c.trask); }});
  sheet.people.push_back({"published", [&sheet](const CellResult& c) { return sheet.published(c, "trask"); }});
  const auto& all = sheet.results.results;
  if (std::any_of(all.begin(), all.end(), [](const CellResult& c) { return !std::isnan(c.trask.median); }))
    sheet.notes.push_back("% of start: 100 * the judged error / that of the untrained network (Trask).");
}

// How many judged errors are below one number, whatever the range.
Estimate below(const CellResult& cell, double limit) {
  const std::optional<std::size_t> judged = cell.cell->position(cell.cell->goal.measure);
  if (!judged || cell.cell->goal.above) return wilson(0, 0);
  const auto is_below = [&](const RunResult& run) { return run.values[*judged] < limit; };
  return wilson(static_cast<int>(std::count_if(cell.runs.begin(), cell.runs.end(), is_below)), cell.run_count());
}

std::string or_nothing(const Estimate& estimate) {
  return std::isnan(estimate.value) ? "" : with_interval(estimate, percent);
}

void threshold(Sheet& sheet) {
  const Criterion& criterion = sheet.results.judgement.criterion;
  const bool given = criterion.kind == Criterion::Kind::Limit && criterion.limit;  // that of others is no error
  const double limit = given ? *criterion.limit : schloers_limit;
  add_estimate(sheet, "threshold", [=](const CellResult& c) { return below(c, limit); });
  sheet.people.push_back(
      {fmt::format("below {:g} %", limit), [=](const CellResult& c) { return or_nothing(below(c, limit)); }});
  const auto& all = sheet.results.results;
  if (std::all_of(all.begin(), all.end(), [=](const CellResult& c) { return std::isnan(below(c, limit).value); }))
    return;
  sheet.notes.push_back(fmt::format("Below {:g}: the judged error against one number for all cells{}.", limit,
                                    limit == schloers_limit ? " (Schlör's)" : ""));
}

void pre_regularisation(Sheet& sheet) {
  const auto before = [](const CellResult& c) { return c.before_regularisers; };
  add_estimate(sheet, "before_regularisers", before);
  sheet.people.push_back({"before regularisers % [95 %]", [=](const CellResult& c) { return or_nothing(before(c)); }});
  const auto& all = sheet.results.results;
  if (std::any_of(all.begin(), all.end(), [=](const CellResult& c) { return !std::isnan(before(c).value); }))
    sheet.notes.push_back(
        "Before regularisers: runs whose weights were good enough to be rounded at the last row before the "
        "regularisers start.");
}

constexpr Metric list[] = {
    {"success", "success rates, when solved, and the task's own goal", success},
    {"mad", "median +- MAD of each measure", mad},
    {"trask", "judged error in % of the untrained network's", trask},
    {"pre-regularisation", "runs good enough to be rounded before regularisers start", pre_regularisation},
    {"threshold", "judged errors below --limit (1e-5), whatever the cell", threshold},
};

}  // namespace

std::span<const Metric> metrics() { return list; }

}  // namespace nalm
