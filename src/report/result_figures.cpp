#include "report/result_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/number.hpp"
#include "base/text.hpp"
#include "report/chart.hpp"

namespace nalm {
namespace result_drawing {
namespace {

constexpr std::size_t most_abreast = 7;  // models whose marks can be told apart; more, and a map is drawn

// The first measure of a cell is drawn where nothing is judged.
std::string main_measure(const Cell& cell) {
  if (cell.has_goal()) return cell.goal.measure;
  return cell.measures.empty() ? "" : cell.measures.front().name;
}

std::string file_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-';
    const std::string_view word = c == '<' ? "less" : c == '>' ? "more" : c == '=' ? "equal" : c == '!' ? "not" : "";
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
    if (!word.empty()) name += std::string(word) + '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() ? "figure" : name;
}

// ---- learning curves -----------------------------------------------------------------------------------------------

// Of all runs of a cell: the main measure by step.
using CurvesOfCell = std::map<long, std::vector<double>>;

double quantile(std::vector<double> sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at), high = std::min(low + 1, sorted.size() - 1);
  if (sorted[low] == sorted[high] || !std::isfinite(sorted[high])) return sorted[low];
  return sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
}

ChartSeries curve_of(const std::string& name, const CurvesOfCell& curves) {
  ChartSeries series;
  series.name = name;
  for (const auto& [step, values] : curves) {
    std::vector<double> sorted = values;
    for (double& v : sorted)
      if (std::isnan(v)) v = infinity;
    std::sort(sorted.begin(), sorted.end());
    series.x.push_back(static_cast<double>(step));
    series.y.push_back(quantile(sorted, 0.5));
    series.low.push_back(quantile(sorted, 0.25));
    series.high.push_back(quantile(sorted, 0.75));
  }
  return series;
}

void add_curves(std::vector<NamedPicture>& pictures, const Results& results, const std::vector<CurvesOfCell>& curves,
                double width) {
  for (const std::string& operation : results.operations())
    for (const std::string& setting : results.settings()) {
      Chart chart;
      std::string measure;
      bool share = false;
      for (std::size_t c = 0; c < results.cells.size(); ++c) {
        const Cell& cell = results.cells[c];
        if (cell.operation != operation || cell.setting != setting || curves[c].size() < 2) continue;
        if (measure.empty()) {
          measure = main_measure(cell);
          const auto m = cell.position(measure);
          share = m && cell.measures[*m].kind == Measure::Kind::Within;
          if (cell.has_goal() && std::isfinite(results.results[c].limit)) chart.y.mark = results.results[c].limit;
        }
        if (main_measure(cell) != measure) continue;
        chart.series.push_back(curve_of(cell.model, curves[c]));
      }
      if (chart.series.empty()) continue;
      chart.title = measure;
      chart.x.title = "iteration";
      chart.y.title =
          share ? "median, band: middle half of the runs" : "median, logarithmic; band: middle half of the runs";
      chart.y.logarithmic = !share;
      if (share) chart.y.lo = 0, chart.y.hi = 1;
      const std::string title = fmt::format("Learning curves: {}{}{}", operation, setting.empty() ? "" : ", ", setting);
      pictures.push_back(
          {file_name(fmt::format("curves {} {}", operation, setting)), chart_picture(title, {chart}, width)});
    }
}

// ---- rates ---------------------------------------------------------------------------------------------------------

Chart estimates(const Results& results, const std::string& operation, std::string title, ChartAxis axis,
                const std::function<Estimate(const CellResult&)>& of) {
  Chart chart;
  chart.title = std::move(title);
  chart.y = std::move(axis);
  chart.x.names = results.settings();
  chart.joined = false;
  for (const std::string& model : results.models(operation)) {
    ChartSeries series{model, {}, {}, {}, {}};
    for (std::size_t s = 0; s < chart.x.names.size(); ++s) {
      const CellResult* cell = results.find(model, operation, chart.x.names[s]);
      if (!cell || cell->runs.empty()) continue;
      const Estimate estimate = of(*cell);
      series.x.push_back(static_cast<double>(s));
      series.y.push_back(estimate.value);
      series.low.push_back(estimate.lo);
      series.high.push_back(estimate.hi);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

MapOfNumbers success_map(const Results& results, const std::string& operation) {
  MapOfNumbers map;
  map.title = fmt::format("{}: runs solved", operation);
  map.unit = "%";
  map.factor = 100;
  map.columns = results.settings();
  for (const std::string& model : results.models(operation)) {
    map.rows.push_back(model);
    map.values.emplace_back();
    for (const std::string& setting : map.columns) {
      const CellResult* cell = results.find(model, operation, setting);
      map.values.back().push_back(cell && cell->cell->has_goal() && !cell->runs.empty() ? cell->success.value
                                                                                        : no_value);
    }
  }
  return map;
}

void add_rates(std::vector<NamedPicture>& pictures, const Results& results, double width) {
  const auto judged = [](const Cell& cell) { return cell.has_goal(); };
  if (std::none_of(results.cells.begin(), results.cells.end(), judged)) return;
  // No mean lies beyond the last iteration, wherever its interval ends.
  double last = 1;
  for (const Cell& cell : results.cells) last = std::max(last, static_cast<double>(cell.iterations()));
  for (const std::string& operation : results.operations()) {
    const std::size_t models = results.models(operation).size();
    const bool grid = results.task().layout == Task::Layout::Grid;
    if (!grid || models > most_abreast)
      pictures.push_back(
          {file_name(fmt::format("map {}", operation)), map_picture(success_map(results, operation), width)});
    if (!grid || models > most_abreast) continue;
    ChartAxis rate{"per cent of the runs, 95 % interval", false, 0.0, 100.0, {}, {}};
    ChartAxis time{"iteration, mean of the solved runs", false, 0.0, last, {}, {}};
    ChartAxis exact{"of the solved runs, logarithmic", true, {}, {}, {}, {}};
    pictures.push_back(
        {file_name(operation),
         chart_picture(
             fmt::format("{}: {}", results.task().title, operation),
             {estimates(results, operation, "Success rate", rate,
                        [](const CellResult& c) {
                          return Estimate{100 * c.success.value, 100 * c.success.lo, 100 * c.success.hi};
                        }),
              estimates(results, operation, "Solved at", time, [](const CellResult& c) { return c.solved_at; }),
              estimates(results, operation, "Sparsity error", exact, [](const CellResult& c) { return c.sparsity; })},
             width)});
  }
}

// ---- measures of the same thing at growing sizes: "mae at 1e3" ----------------------------------------------------

std::optional<std::pair<std::string, double>> of_size(std::string_view measure) {
  const std::size_t at = measure.rfind(" at 1e");
  if (at == measure.npos) return std::nullopt;
  const std::optional<double> size = number_of(measure.substr(at + 4));
  if (!size) return std::nullopt;
  return std::pair{std::string(measure.substr(0, at)), *size};
}

void add_sizes(std::vector<NamedPicture>& pictures, const Results& results, double width) {
  std::vector<std::string> kinds;
  for (const std::string& name : results.measure_names())
    if (const auto kind = of_size(name); kind && std::find(kinds.begin(), kinds.end(), kind->first) == kinds.end())
      kinds.push_back(kind->first);
  for (const std::string& kind : kinds)
    for (const std::string& setting : results.settings()) {
      Chart chart;
      bool share = false;
      for (const CellResult& result : results.results) {
        if (result.cell->setting != setting || result.runs.empty()) continue;
        ChartSeries series{results.models().size() > 1
                               ? fmt::format("{} {}", result.cell->model, result.cell->operation)
                               : result.cell->operation,
                           {},
                           {},
                           {},
                           {}};
        for (std::size_t m = 0; m < result.cell->measures.size(); ++m) {
          const auto size = of_size(result.cell->measures[m].name);
          if (!size || size->first != kind) continue;
          share = share || result.cell->measures[m].kind == Measure::Kind::Within;
          series.x.push_back(size->second);
          series.y.push_back(result.measures[m].median);
          series.low.push_back(result.measures[m].smallest);
          series.high.push_back(result.measures[m].largest);
        }
        if (series.x.size() > 1) chart.series.push_back(std::move(series));
      }
      if (chart.series.empty()) continue;
      chart.title = kind;
      chart.x = {"size of the numbers", true, {}, {}, {}, {}};
      chart.y = {"median; band: smallest to largest run",           false, 0.0,
                 share ? std::optional<double>(1.0) : std::nullopt, {},    {}};
      pictures.push_back(
          {file_name(fmt::format("{} over size {}", kind, setting)),
           chart_picture(fmt::format("{}, {}{}{}", results.task().title, kind, setting.empty() ? "" : ", ", setting),
                         {chart}, width)});
    }
}

}  // namespace
}  // namespace result_drawing

Result<std::vector<NamedPicture>> result_figures(const Store& store, const Judgement& judgement, double width) {
  using namespace result_drawing;
  std::vector<CurvesOfCell> curves(store.cells().size());
  const Result<Results> results =
      judge_store(store, judgement, [&](std::size_t c, const RunRecord& record, const RunResult&) {
        const Cell& cell = store.cells()[c];
        const std::optional<std::size_t> m = cell.position(main_measure(cell));
        if (!m) return;
        for (std::size_t row = 0; row < record.rows(); ++row)
          curves[c][record.steps[row]].push_back(record.values[row][*m]);
      });
  if (!results) return results.error();
  std::vector<NamedPicture> pictures;
  add_rates(pictures, *results, width);
  add_sizes(pictures, *results, width);
  add_curves(pictures, *results, curves, width);
  if (pictures.empty()) return Error{fmt::format("{}: there is nothing to draw yet.", store.folder())};
  // Names that differ in characters no file has: none takes the file of another.
  std::set<std::string> taken;
  for (NamedPicture& picture : pictures) {
    const std::string name = picture.name;
    for (int nth = 2; !taken.insert(picture.name).second; ++nth) picture.name = fmt::format("{}_{}", name, nth);
  }
  return pictures;
}

}  // namespace nalm
