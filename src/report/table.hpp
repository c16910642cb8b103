// The results of a task as tables: in any format, by any metric.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/summary.hpp"
#include "report/columns.hpp"

namespace nalm {

// What a table is made of: a metric adds columns for programs, columns for people, and what people must know about
// them. A column of which every cell is empty is not shown to people.
struct Sheet {
  struct Column {
    std::string name;
    std::function<std::string(const CellResult&)> text;
  };
  explicit Sheet(const Results& all) : results(all) {}

  const Results& results;
  std::vector<Column> csv, people;
  std::vector<std::string> notes;

  // What was published about a cell, for people: "80 (a)".
  std::string published(const CellResult& cell, std::string_view what, double factor = 1);
  // Remarks on published figures, each with a letter: made while rows are written.
  std::vector<std::string> remarks;
};

struct Metric {
  std::string_view name, meaning;
  void (*add)(Sheet& sheet);
};
// By the names of --metric; "all" is every one of them.
std::span<const Metric> metrics();

struct TableFormat {
  std::string_view name, meaning;
  std::string (*write)(const Results& results, std::string_view metric);
};
std::span<const TableFormat> table_formats();

// The metric "" is the task's usual table: all of them, but for the single module task, whose table is the survey's.
std::string print_table(const Results& results, std::string_view metric, std::string_view format);

// For people: the columns and the notes below.
struct PeoplesTable {
  std::string title;  // the operation, where tables are one per operation
  Columns columns{3};
  std::vector<std::string> notes;
};
std::vector<PeoplesTable> tables_for_people(const Results& results, std::string_view metric);

// What fits on a screen: successes by setting and model, one small matrix per operation; or the whole table.
std::string print_overview(const Results& results);

// Every logged row of a store, as CSV. Numbers are the shortest that read back to the same bits.
Status write_series(const Store& store, const std::string& path);

}  // namespace nalm
