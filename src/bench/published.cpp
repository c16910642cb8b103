#include "bench/published.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "bench/grid.hpp"

namespace nalm {

namespace assets {
extern const std::string_view primer_single_module;  // the CSV file, see CMakeLists.txt
}

namespace {

// Cells of a line; the range is quoted because it has a comma.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<PublishedCell> read_all() {
  std::vector<PublishedCell> all;
  std::string_view rest = assets::primer_single_module;
  rest.remove_prefix(rest.find('\n') + 1);  // the header
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::vector<std::string> cells = cells_of(rest.substr(0, end));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    if (cells.size() < 12) continue;
    const auto number = [&](std::size_t k) {
      return cells[k].empty() ? std::numeric_limits<double>::quiet_NaN() : std::strtod(cells[k].c_str(), nullptr);
    };
    const auto estimate = [&](std::size_t k) { return Estimate{number(k), number(k + 1), number(k + 2)}; };
    const Result<Operation> operation = parse_operation(cells[1]);
    if (!operation) continue;  // a test counts the cells
    all.push_back({cells[0], *operation, cells[2], estimate(3), estimate(6), estimate(9)});
  }
  return all;
}

}  // namespace

int PublishedCell::successes() const { return static_cast<int>(std::lround(success.value * runs)); }

std::span<const PublishedCell> published_cells() {
  static const std::vector<PublishedCell> all = read_all();
  return all;
}

const PublishedCell* find_published(std::string_view module, Operation operation, std::string_view range) {
  for (const PublishedCell& cell : published_cells())
    if (cell.module == module && cell.operation == operation && cell.range == range) return &cell;
  return nullptr;
}

}  // namespace nalm
