#include "bench/published.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "base/csv.hpp"
#include "bench/grid.hpp"

namespace nalm {

namespace assets {
extern const std::string_view primer_single_module, later_modules;  // the CSV files, see CMakeLists.txt
}

namespace {

// f(cells of a line), for every line but the header.
template <class F>
void for_each_line(std::string_view rest, F f) {
  rest.remove_prefix(rest.find('\n') + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    f(cells_of(rest.substr(0, end)));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();
double number(const std::string& cell) { return cell.empty() ? none : std::strtod(cell.c_str(), nullptr); }

// Lines that cannot be read are left out; a test counts the cells.
std::vector<PublishedCell> read_survey() {
  std::vector<PublishedCell> all;
  for_each_line(assets::primer_single_module, [&](const std::vector<std::string>& cells) {
    if (cells.size() < 12) return;
    const auto estimate = [&](std::size_t k) {
      return Estimate{number(cells[k]), number(cells[k + 1]), number(cells[k + 2])};
    };
    if (const Result<Operation> operation = parse_operation(cells[1]))
      all.push_back({cells[0], *operation, cells[2], estimate(3), estimate(6), estimate(9), 2, ""});
  });
  return all;
}

std::vector<PublishedCell> read_later() {
  std::vector<PublishedCell> all;
  for_each_line(assets::later_modules, [&](const std::vector<std::string>& cells) {
    if (cells.size() < 6) return;
    const Estimate nothing{none, none, none};
    if (const Result<Operation> operation = parse_operation(cells[1]))
      all.push_back({cells[0],
                     *operation,
                     cells[3],
                     {number(cells[4]), none, none},
                     nothing,
                     nothing,
                     static_cast<int>(number(cells[2])),
                     cells[5]});
  });
  return all;
}

std::span<const PublishedCell> later_cells() {
  static const std::vector<PublishedCell> all = read_later();
  return all;
}

constexpr std::string_view all_ranges = "all";

}  // namespace

int PublishedCell::successes() const { return static_cast<int>(std::lround(success.value * runs)); }

std::span<const PublishedCell> published_cells() {
  static const std::vector<PublishedCell> all = read_survey();
  return all;
}

const PublishedCell* find_published(std::string_view module, Operation operation, std::string_view range, int inputs) {
  for (const auto cells : {published_cells(), later_cells()})
    for (const PublishedCell& cell : cells)
      if (cell.module == module && cell.operation == operation && cell.range == range && cell.inputs == inputs)
        return &cell;
  return nullptr;
}

const PublishedCell* find_published_mean(std::string_view module, Operation operation, int inputs) {
  return find_published(module, operation, all_ranges, inputs);
}

}  // namespace nalm
