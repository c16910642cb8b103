#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/csv.hpp"
#include "base/write_file.hpp"
#include "report/table_json.hpp"
#include "report/table_latex.hpp"

namespace nalm {
namespace {

bool is_grid(const Results& results) { return results.task().layout == Task::Layout::Grid; }

std::string title_of(const Results& results) {
  return fmt::format("{} ({}, preset {})", results.task().title, results.task().name, results.info.plan.preset);
}

Sheet sheet_of(const Results& results, std::string_view metric) {
  Sheet sheet(results);
  const std::string_view wanted = !metric.empty() ? metric : is_grid(results) ? "success" : "all";
  // Who asks for a threshold has runs judged by it, accuracies as well as errors.
  for (const Metric& m : metrics())
    if (wanted == "all" || wanted == m.name || (wanted == "threshold" && m.name == "success")) m.add(sheet);
  return sheet;
}

// ---- for programs --------------------------------------------------------------------------------------------------

// One line per run, of what the task says about it.
std::string csv_of_runs(const Results& results) {
  std::string text;
  for (const CellResult& cell : results.results) {
    for (const RunResult& run : cell.runs) {
      std::vector<std::string> names, values;
      for (const auto& [name, value] : run.facts) {
        names.push_back(csv_cell(name));
        // The store knows how long a run took; the task says where that stands.
        values.push_back(name == "seconds" ? fmt::format("{:.3f}", run.seconds) : csv_cell(value));
      }
      if (text.empty()) text = fmt::format("{}\n", fmt::join(names, ","));
      text += fmt::format("{}\n", fmt::join(values, ","));
    }
  }
  return text;
}

std::string csv(const Results& results, std::string_view metric) {
  if (results.task().layout == Task::Layout::Runs && (metric.empty() || metric == "all")) return csv_of_runs(results);
  const Sheet sheet = sheet_of(results, metric);
  std::vector<std::string> lines(1);
  const auto add_column = [&](const std::string& name, auto text) {
    const bool first = lines[0].empty();
    lines[0] += fmt::format("{}{}", first ? "" : ",", csv_cell(name));
    lines.resize(results.results.size() + 1);
    for (std::size_t c = 0; c < results.results.size(); ++c)
      lines[c + 1] += fmt::format("{}{}", first ? "" : ",", csv_cell(text(results.results[c])));
  };
  add_column(std::string(results.task().model_word), [](const CellResult& c) { return c.cell->model; });
  add_column("operation", [](const CellResult& c) { return c.cell->operation; });
  add_column(std::string(results.task().setting_word), [](const CellResult& c) { return c.cell->setting; });
  // What a metric alone does not say.
  if (!is_grid(results) && (sheet.csv.empty() || sheet.csv.front().name != "runs"))
    add_column("runs", [](const CellResult& c) { return std::to_string(c.run_count()); });
  const auto remarks = [&](const CellResult& cell) {
    std::vector<std::string> all;
    for (const PublishedFigure* figure : results.published_for(*cell.cell))
      if (!figure->source.empty() && std::find(all.begin(), all.end(), figure->source) == all.end())
        all.push_back(figure->source);
    return fmt::format("{}", fmt::join(all, "; "));
  };
  const bool has_remarks = !is_grid(results);
  bool remarked = !has_remarks;
  for (const Sheet::Column& column : sheet.csv) {
    // The columns of later versions come after those that there were.
    if (!remarked && column.name == "threshold") add_column("published_remarks", remarks), remarked = true;
    add_column(column.name, column.text);
  }
  if (!remarked) add_column("published_remarks", remarks);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

// ---- for people ----------------------------------------------------------------------------------------------------

std::string letters(std::size_t k) {
  const std::string last(1, static_cast<char>('a' + k % 26));
  return k < 26 ? last : letters(k / 26 - 1) + last;
}

// The rate of every model over its settings: one line each, with what was published.
std::string means(const Results& results, const std::string& operation) {
  Columns columns(1);
  columns.add({fmt::format("mean over {}s", results.task().setting_word), "solved", "success %", "published"});
  std::size_t rows = 0;
  for (const std::string& model : results.models(operation)) {
    int runs = 0, successes = 0, cells = 0, published = 0;
    double published_sum = 0;
    std::string theirs;
    for (const CellResult& cell : results.results) {
      if (cell.cell->model != model || cell.cell->operation != operation) continue;
      ++cells;
      runs += cell.run_count();
      successes += cell.successes;
      for (const PublishedFigure* figure : results.published_for(*cell.cell, "success"))
        published_sum += figure->value.value, ++published;
    }
    if (runs == 0 || cells < 2) continue;
    const bool whole = results.info.plan.settings.empty();
    if (whole && published == cells) theirs = fmt::format("{:.1f}", 100 * published_sum / published);
    for (const PublishedFigure& figure : results.published)
      if (whole && figure.setting == PublishedFigure::all_settings && figure.what == "success" &&
          figure.model == model && figure.operation == operation)
        theirs = fmt::format("{:.1f}", 100 * figure.value.value);
    columns.add(
        {model, fmt::format("{}/{}", successes, runs), fmt::format("{:.1f}", 100.0 * successes / runs), theirs});
    ++rows;
  }
  return rows > 0 ? columns.print() : "";
}

// Rates of all cells of a setting together: how many of a list of problems are solved, and what was published.
Columns rates_by_setting(const Results& results) {
  Columns columns(1);
  columns.add(
      {std::string(results.task().setting_word), "solved", "success % [95 %]", "median s", "most s", "published %"});
  for (const std::string& setting : results.settings()) {
    int runs = 0, successes = 0;
    std::vector<double> seconds;
    for (const CellResult& cell : results.results) {
      if (cell.cell->setting != setting) continue;
      runs += cell.run_count();
      successes += cell.successes;
      for (const RunResult& run : cell.runs) seconds.push_back(run.seconds);
    }
    std::vector<std::string> published;
    for (const PublishedFigure& figure : results.published)
      if (figure.is_of_all_cells() && figure.setting == setting && figure.what == "success")
        published.push_back(fmt::format("{:.1f} {}", 100 * figure.value.value, figure.source));
    const Spread spread = spread_of(seconds);
    columns.add({setting, fmt::format("{}/{}", successes, runs), with_interval(wilson(successes, runs), percent),
                 fmt::format("{:.1f}", spread.median), fmt::format("{:.1f}", spread.largest),
                 fmt::format("{}", fmt::join(published, ", "))});
  }
  columns.drop_empty();
  return columns;
}

std::vector<std::string> notes_about(const Results& results, const Sheet& sheet, bool with_found) {
  std::vector<std::string> notes = sheet.notes;
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < sheet.remarks.size(); ++k)
    lines.push_back(fmt::format("({}) {}", letters(k), sheet.remarks[k]));
  if (!lines.empty()) notes.push_back(fmt::format("Published: {}", fmt::join(lines, "; ")));
  if (const std::vector<std::string> changes = results.info.plan.changes(); !changes.empty())
    notes.push_back(fmt::format("Not the task's own settings, so not comparable with what was published: {}.",
                                fmt::join(changes, " ")));
  // What most runs of a cell found.
  for (const CellResult& cell : results.results) {
    if (!with_found) break;
    std::map<std::string, int> counts;
    for (const RunResult& run : cell.runs)
      if (!run.note.empty()) ++counts[run.note];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != counts.end())
      notes.push_back(
          fmt::format("{}: {} ({} of {} runs)", cell.cell->name(), most->first, most->second, cell.run_count()));
  }
  if (results.missing > 0)
    notes.push_back(fmt::format("{} runs are missing: the task is not finished.", results.missing));
  return notes;
}

// One line per run: where each is a search of its own, what it found says more than a rate.
PeoplesTable runs_for_people(const Results& results) {
  constexpr std::size_t longest = 120;  // CSV has the rest
  PeoplesTable table;
  table.columns.add({std::string(results.task().model_word), "operation", std::string(results.task().setting_word),
                     "seed", "s", "verdict", "found"});
  for (const CellResult& cell : results.results) {
    for (const RunResult& run : cell.runs) {
      const auto verdict =
          std::find_if(run.facts.begin(), run.facts.end(), [](const auto& fact) { return fact.first == "verdict"; });
      table.columns.add({cell.cell->model, cell.cell->operation, cell.cell->setting, std::to_string(run.seed),
                         fmt::format("{:.1f}", run.seconds),
                         verdict != run.facts.end() ? verdict->second
                         : run.success              ? "solved"
                                                    : "not solved",
                         run.note.size() > longest ? run.note.substr(0, longest) + "..." : run.note});
    }
  }
  table.notes = notes_about(results, Sheet(results), false);
  return table;
}

std::string terminal(const Results& results, std::string_view metric) {
  std::string text = is_grid(results) ? "" : title_of(results) + "\n";
  const std::vector<PeoplesTable> tables = tables_for_people(results, metric);
  for (const PeoplesTable& table : tables) {
    text += table.title.empty() ? "" : operation_title(table.title) + "\n";
    text += table.columns.print() + "\n";
    if (const std::string lines = is_grid(results) ? means(results, table.title) : ""; !lines.empty())
      text += lines + "\n";
  }
  if (results.task().layout == Task::Layout::Runs) text += rates_by_setting(results).print() + "\n";
  return text + fmt::format("{}\n", fmt::join(tables.back().notes, "\n"));
}

std::string markdown(const Results& results, std::string_view metric) {
  const std::vector<PeoplesTable> tables = tables_for_people(results, metric);
  std::string text;
  for (const PeoplesTable& table : tables)
    text += fmt::format("### {}\n\n{}\n", table.title.empty() ? title_of(results) : operation_title(table.title),
                        table.columns.markdown());
  if (results.task().layout == Task::Layout::Runs) text += rates_by_setting(results).markdown() + "\n";
  return text + fmt::format("{}\n", fmt::join(tables.back().notes, "\n\n"));
}

std::string latex(const Results& results, std::string_view metric) {
  if (is_grid(results) && (metric.empty() || metric == "success")) return survey_latex(results);
  std::string text = "% Needs \\usepackage{booktabs}.\n";
  for (const PeoplesTable& table : tables_for_people(results, metric))
    text += table.columns.latex(fmt::format("{}{}. {}", title_of(results),
                                            table.title.empty() ? "" : ": " + operation_title(table.title),
                                            fmt::join(table.notes, " ")));
  return text;
}

constexpr TableFormat formats[] = {
    {"terminal", "for reading", terminal},
    {"csv", "for programs", csv},
    {"markdown", "for documents", markdown},
    {"json", "every run, with the reason why it failed", json_of},
    {"latex", "the single module task's has the paper's layout", latex},
};

}  // namespace

std::string Sheet::published(const CellResult& cell, std::string_view what, double factor) {
  std::string text;
  for (const PublishedFigure* figure : results.published_for(*cell.cell, what)) {
    std::string mark;
    if (!figure->source.empty()) {
      auto at = std::find(remarks.begin(), remarks.end(), figure->source);
      if (at == remarks.end()) at = remarks.insert(at, figure->source);
      mark = fmt::format(" ({})", letters(static_cast<std::size_t>(at - remarks.begin())));
    }
    text += fmt::format("{}{:.4g}{}", text.empty() ? "" : " / ", factor * figure->value.value, mark);
  }
  return text;
}

std::span<const TableFormat> table_formats() { return formats; }

std::string print_table(const Results& results, std::string_view metric, std::string_view format) {
  for (const TableFormat& f : formats)
    if (f.name == format) return f.write(results, metric);
  return "";
}

std::vector<PeoplesTable> tables_for_people(const Results& results, std::string_view metric) {
  if (results.task().layout == Task::Layout::Runs && metric.empty()) return {runs_for_people(results)};
  Sheet sheet = sheet_of(results, metric);
  std::vector<PeoplesTable> tables;
  for (const std::string& operation : is_grid(results) ? results.operations() : std::vector<std::string>{""}) {
    PeoplesTable table{operation, Columns(operation.empty() ? 3 : 2), {}};
    std::vector<std::string> heading{std::string(results.task().model_word)};
    if (operation.empty()) heading.push_back("operation");
    heading.emplace_back(results.task().setting_word);
    for (const Sheet::Column& column : sheet.people) heading.push_back(column.name);
    table.columns.add(heading);
    for (const CellResult& cell : results.results) {
      if (!operation.empty() && cell.cell->operation != operation) continue;
      std::vector<std::string> row{cell.cell->model};
      if (operation.empty()) row.push_back(cell.cell->operation);
      row.push_back(cell.cell->setting);
      for (const Sheet::Column& column : sheet.people) row.push_back(column.text(cell));
      table.columns.add(std::move(row));
    }
    table.columns.drop_empty();
    tables.push_back(std::move(table));
  }
  const bool with_found = !is_grid(results) && (metric.empty() || metric == "all");
  tables.back().notes = notes_about(results, sheet, with_found);
  return tables;
}

std::string print_overview(const Results& results) {
  if (!is_grid(results)) return terminal(results, "");
  const auto solved = [&](const std::string& model, const std::string& operation, const std::string& setting) {
    const CellResult* cell = results.find(model, operation, setting);
    return cell && !cell->runs.empty() ? fmt::format("{}/{}", cell->successes, cell->run_count()) : std::string("-");
  };
  std::string text;
  for (const std::string& operation : results.operations()) {
    std::vector<std::string> down = results.settings(), across = results.models(operation);
    std::size_t width = 12;
    for (const std::string& model : across) width += model.size() + 2;
    const bool turned = width > 110;  // many modules: the other way round
    if (turned) std::swap(down, across);
    Columns columns(1);
    std::vector<std::string> heading{std::string(turned ? results.task().model_word : results.task().setting_word)};
    heading.insert(heading.end(), across.begin(), across.end());
    columns.add(std::move(heading));
    for (const std::string& name : down) {
      std::vector<std::string> row{name};
      for (const std::string& other : across)
        row.push_back(turned ? solved(name, operation, other) : solved(other, operation, name));
      columns.add(std::move(row));
    }
    text += fmt::format("{}: runs solved\n{}\n", operation_title(operation), columns.print());
  }
  return text + fmt::format("Solved: {}.\n", describe_goal(results));
}

Status write_series(const Store& store, const std::string& path) {
  const Task& task = *store.info().plan.task;
  // The single module task has its measures in columns, the others in rows, as they had from the beginning.
  const bool wide = task.layout == Task::Layout::Grid;
  FileWriter file(path);
  std::string heading = fmt::format("{},operation,{},seed,step", task.model_word, task.setting_word);
  if (!wide) heading += ",measure,value";
  if (wide && !store.cells().empty())
    for (const Measure& measure : store.cells().front().measures) heading += "," + measure.name;
  file.write(heading + "\n");
  const auto number = [&](const Measure& measure, double value) {
    if (wide && std::isnan(value)) return std::string("nan");  // without a sign
    return measure.is_float ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  };
  Status read = store.for_each_run([&](const FinishedRun& run) -> Status {
    const Cell& cell = store.cells()[run.id.cell];
    const std::string name =
        fmt::format("{},{},{},{}", csv_cell(cell.model), csv_cell(cell.operation), csv_cell(cell.setting), run.id.seed);
    for (std::size_t r = 0; r < run.record.rows(); ++r) {
      std::string row = fmt::format("{},{}", name, run.record.steps[r]);
      for (std::size_t m = 0; m < cell.measures.size(); ++m) {
        const std::string value = number(cell.measures[m], run.record.values[r][m]);
        if (wide) row += "," + value;
        if (!wide) file.write(fmt::format("{},{},{}\n", row, csv_cell(cell.measures[m].name), value));
      }
      if (wide) file.write(row + "\n");
    }
    return Done{};
  });
  if (!read) return read;
  return file.finish();
}

}  // namespace nalm
