#include "tasks/single_module/ranges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace nalm {
namespace {

std::string known_ranges() {
  std::string list;
  for (std::size_t k = 0; k < paper_ranges().size(); ++k)
    list += fmt::format("{}{} {}", k ? ", " : "", k, name_of(paper_ranges()[k].train));
  return list;
}

bool same(const Range& a, const Range& b) {
  const auto part = [](const Range& r) { return r.second.value_or(Range::Part{}); };
  return a.lo == b.lo && a.hi == b.hi && part(a).lo == part(b).lo && part(a).hi == part(b).hi;
}

}  // namespace

std::string name_of(const Range& range) {
  std::string name = fmt::format("U[{},{})", range.lo, range.hi);
  if (range.second) name += fmt::format("+[{},{})", range.second->lo, range.second->hi);
  return name;
}

Result<Range> parse_range(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return Error{
        fmt::format("\"{}\" is not a range: {}; write it like [1,2), or [-6,-2)+[2,6) for two parts.", text, why)};
  };
  std::string_view rest = trim(text);
  if (!rest.empty() && (rest.front() == 'U' || rest.front() == 'u')) rest.remove_prefix(1);
  Range range;
  for (int part = 0; part < 2; ++part) {
    const std::size_t comma = rest.find(','), end = rest.find_first_of(")]");
    if (rest.empty() || rest.front() != '[' || comma == rest.npos || end == rest.npos || comma > end) {
      return wrong("a part has the form [low,high)");
    }
    const auto lo = number_in<double>(trim(rest.substr(1, comma - 1)));
    const auto hi = number_in<double>(trim(rest.substr(comma + 1, end - comma - 1)));
    if (!lo || !hi || !std::isfinite(*lo) || !std::isfinite(*hi)) return wrong("its bounds are not both numbers");
    if (!(*lo < *hi)) return wrong("the lower bound must be below the upper one");
    if (part == 0) {
      range.lo = *lo, range.hi = *hi;
    } else {
      range.second = Range::Part{*lo, *hi};
    }
    rest = trim(rest.substr(end + 1));
    if (rest.empty()) break;
    if (rest.front() != '+' || part == 1) return wrong("there is something after its end");
    rest = trim(rest.substr(1));
  }
  if (range.second) {
    const double first = range.hi - range.lo, second = range.second->hi - range.second->lo;
    if (std::abs(first - second) > 1e-9 * first) return wrong("its two parts must be equally wide");
  }
  return range;
}

Result<std::vector<TaskRange>> parse_ranges(std::string_view text, std::string_view test_ranges) {
  std::vector<Range> tests;
  if (!trim(test_ranges).empty()) {
    for (const std::string_view part : split_outside_brackets(test_ranges)) {
      const Result<Range> range = parse_range(part);
      if (!range) return range.error();
      tests.push_back(*range);
    }
  }
  std::vector<TaskRange> ranges;
  std::vector<std::size_t> open;  // those that need a test range
  for (const std::string_view part : split_outside_brackets(text)) {
    if (const auto number = number_in<std::size_t>(part)) {
      if (*number >= paper_ranges().size())
        return Error{fmt::format("there is no range number {}; the paper's are {}.", *number, known_ranges())};
      ranges.push_back(paper_ranges()[*number]);
      continue;
    }
    const Result<Range> range = parse_range(part);
    if (!range)
      return Error{fmt::format("{} The paper's ranges, by number: {}.", range.error().message, known_ranges())};
    if (range->second)
      return Error{fmt::format("{}: training ranges have one part; only test ranges may have two.", part)};
    const auto known = std::find_if(paper_ranges().begin(), paper_ranges().end(),
                                    [&](const TaskRange& r) { return same(r.train, *range); });
    if (known != paper_ranges().end() && tests.empty()) {
      ranges.push_back(*known);
    } else {
      open.push_back(ranges.size());
      ranges.push_back({*range, {}});
    }
  }
  if (!open.empty() && tests.empty()) {
    return Error{
        fmt::format("{} is not one of the paper's ranges, so it needs --test-range, such as --test-range "
                    "\"[20,40)\"; the paper's are {}.",
                    name_of(ranges[open.front()].train), known_ranges())};
  }
  if (tests.size() > 1 && tests.size() != open.size())
    return Error{fmt::format("--test-range has {} ranges for {} new training ranges; give one for all or one for each.",
                             tests.size(), open.size())};
  if (!tests.empty() && open.empty())
    return Error{"--test-range is only for training ranges written as text; the paper's ranges have their own."};
  for (std::size_t k = 0; k < open.size(); ++k) ranges[open[k]].test = tests[tests.size() == 1 ? 0 : k];
  for (std::size_t a = 0; a < ranges.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (same(ranges[a].train, ranges[b].train))
        return Error{fmt::format("the range {} is named twice.", name_of(ranges[a].train))};
  return ranges;
}

Result<Operation> parse_operation(std::string_view text) {
  for (const Operation operation : all_operations)
    if (name_of(operation) == text) return operation;
  std::vector<std::string_view> names;
  for (const Operation operation : all_operations) names.push_back(name_of(operation));
  return Error{fmt::format("\"{}\" is not an operation; the operations are add, sub, mul and div.{}", text,
                           did_you_mean(text, names))};
}

// Of a list, each named once.
template <class T>
static Result<std::vector<T>> parse_list(std::string_view text, Result<T> (*parse)(std::string_view),
                                         std::string_view what) {
  std::vector<T> all;
  for (const std::string_view part : split(text)) {
    const Result<T> one = parse(part);
    if (!one) return one.error();
    if (std::find(all.begin(), all.end(), *one) != all.end())
      return Error{fmt::format("the {} {} is named twice.", what, part)};
    all.push_back(*one);
  }
  return all;
}
Result<std::vector<Operation>> parse_operations(std::string_view text) {
  return parse_list(text, parse_operation, "operation");
}
Result<std::vector<const ModuleInfo*>> parse_modules(std::string_view text) {
  return parse_list(text, find_module, "module");
}

Result<std::vector<Pair>> make_pairs(std::span<const ModuleInfo* const> modules, std::span<const Operation> operations,
                                     std::vector<std::string>& left_out) {
  std::vector<Pair> pairs;
  for (const Operation operation : operations) {
    for (const ModuleInfo* module : modules) {
      const auto& can = module->operations;
      if (std::find(can.begin(), can.end(), operation) != can.end()) {
        pairs.push_back({module, operation});
      } else {
        left_out.push_back(fmt::format("{} {}", module->name, name_of(operation)));
      }
    }
  }
  if (pairs.empty())
    return Error{
        fmt::format("none of these modules can learn any of these operations ({}); `nalm list NAME` says what "
                    "a module learns.",
                    fmt::join(left_out, ", "))};
  return pairs;
}

}  // namespace nalm
