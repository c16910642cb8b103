#include "bench/grid.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/single_module_recipes.hpp"

namespace nalm {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// At commas outside of brackets: a range has a comma of its own.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  bool inside = false;
  std::size_t first = 0;
  for (std::size_t k = 0; k <= text.size(); ++k) {
    if (k == text.size() || (text[k] == ',' && !inside)) {
      parts.push_back(trim(text.substr(first, k - first)));
      first = k + 1;
    } else if (text[k] == '[') {
      inside = true;
    } else if (text[k] == ')' || text[k] == ']') {
      inside = false;
    }
  }
  return parts;
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> real_number(std::string_view text) {
  text = trim(text);
  double value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

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

Recipe resolve_recipe(const Grid& grid, const Pair& pair) {
  Recipe recipe = single_module_recipe(*pair.module, pair.operation, grid.inputs);
  if (!grid.recipe_changes.empty()) {
    if (Result<Recipe> changed = change_recipe(recipe, grid.recipe_changes)) recipe = std::move(*changed);
  }
  if (grid.iterations) recipe.training.iterations = *grid.iterations;
  if (grid.learning_rate) recipe.training.optimiser.set_learning_rate(*grid.learning_rate);
  return recipe;
}

std::vector<RunId> runs_of(const Grid& grid) {
  std::vector<RunId> runs;
  for (const TaskRange& range : grid.ranges)
    for (const std::uint32_t seed : grid.seeds)
      for (const Pair& pair : grid.pairs) runs.push_back({pair.module, pair.operation, range, grid.inputs, seed});
  return runs;
}

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
    const auto lo = real_number(rest.substr(1, comma - 1)), hi = real_number(rest.substr(comma + 1, end - comma - 1));
    if (!lo || !hi) return wrong("its bounds are not both numbers");
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
    for (const std::string_view part : split(test_ranges)) {
      const Result<Range> range = parse_range(part);
      if (!range) return range.error();
      tests.push_back(*range);
    }
  }
  std::vector<TaskRange> ranges;
  std::vector<std::size_t> open;  // those that need a test range
  for (const std::string_view part : split(text)) {
    if (const auto number = whole_number<std::size_t>(part)) {
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

Result<std::vector<std::uint32_t>> parse_seeds(std::string_view text) {
  constexpr std::size_t most = 1000000;
  const auto wrong = [&](std::string_view part) {
    return Error{
        fmt::format("\"{}\" is not a seed; write --seeds 3, --seeds 3,11 or --seeds 0..24, with whole numbers "
                    "from 0 to 4294967295.",
                    part)};
  };
  std::vector<std::uint32_t> seeds;
  std::set<std::uint32_t> seen;
  for (const std::string_view part : split(text)) {
    const std::size_t dots = part.find("..");
    const auto first = whole_number<std::uint32_t>(trim(part.substr(0, dots)));
    const auto last = dots == part.npos ? first : whole_number<std::uint32_t>(trim(part.substr(dots + 2)));
    if (!first || !last) return wrong(part);
    if (*last < *first) return Error{fmt::format("\"{}\" runs backwards; write the smaller seed first.", part)};
    if (*last - *first >= most) return Error{fmt::format("\"{}\" is more than {} seeds.", part, most)};
    for (std::uint64_t seed = *first; seed <= *last; ++seed) {
      if (!seen.insert(static_cast<std::uint32_t>(seed)).second)
        return Error{fmt::format("seed {} is named twice.", seed)};
      seeds.push_back(static_cast<std::uint32_t>(seed));
    }
  }
  return seeds;
}

Result<Operation> parse_operation(std::string_view text) {
  for (const Operation operation : all_operations)
    if (name_of(operation) == text) return operation;
  return Error{fmt::format("\"{}\" is not an operation; the operations are add, sub, mul and div.", text)};
}

Result<std::vector<Operation>> parse_operations(std::string_view text) {
  std::vector<Operation> operations;
  for (const std::string_view part : split(text)) {
    const Result<Operation> operation = parse_operation(part);
    if (!operation) return operation.error();
    if (std::find(operations.begin(), operations.end(), *operation) != operations.end())
      return Error{fmt::format("the operation {} is named twice.", part)};
    operations.push_back(*operation);
  }
  return operations;
}

Result<std::vector<const ModuleInfo*>> parse_modules(std::string_view text) {
  std::vector<const ModuleInfo*> modules;
  for (const std::string_view part : split(text)) {
    const Result<const ModuleInfo*> module = find_module(part);
    if (!module) return module.error();
    if (std::find(modules.begin(), modules.end(), *module) != modules.end())
      return Error{fmt::format("the module {} is named twice.", part)};
    modules.push_back(*module);
  }
  return modules;
}

Result<std::vector<Pair>> make_pairs(std::span<const ModuleInfo* const> modules, std::span<const Operation> operations,
                                     std::vector<std::string>& skipped) {
  std::vector<Pair> pairs;
  for (const Operation operation : operations) {
    for (const ModuleInfo* module : modules) {
      const auto& can = module->operations;
      if (std::find(can.begin(), can.end(), operation) != can.end()) {
        pairs.push_back({module, operation});
      } else {
        skipped.push_back(fmt::format("{} {}", module->name, name_of(operation)));
      }
    }
  }
  if (pairs.empty())
    return Error{
        fmt::format("none of these modules can learn any of these operations ({}); `nalm list NAME` says what "
                    "a module learns.",
                    fmt::join(skipped, ", "))};
  return pairs;
}

std::span<const Preset> presets() {
  // The modules that came after the survey, beside the survey's best.
  static constexpr std::string_view later =
      "NAU,NMU,RealNPU,sNMU,sNMU-batch,NRU,NRU-separate,NRU-log,NMRU,NMRU-vanilla,sNMRU,RealNPU-modified,NaiveNPU,MC-"
      "FC,"
      "MulMC-FC,MulMC-FC-iNALU,MulMC-FC-RealNPU,NALU2M,NALUIG,NALU2MIG";
  static constexpr Preset all[] = {
      {"primer", "the paper's tables: nine modules, 23 pairs, 9 ranges, 25 seeds",
       "NAC+,NAC*,NALU,G-NALU,iNALU,NAU,NMU,NPU,RealNPU", "add,sub,mul,div", 2},
      {"beyond-primer", "the modules after the survey, 9 ranges, 25 seeds", later, "add,sub,mul,div", 2},
      {"beyond-primer-10", "the same with 8 redundant inputs, 100000 iterations; half an hour", later,
       "add,sub,mul,div", 10, 100000},
      {"redundancy-10-inalu", "iNALU with 8 redundant inputs, addition", "iNALU", "add", 10},
      {"redundancy-10-nau", "NAU with 8 redundant inputs, addition and subtraction", "NAU", "add,sub", 10},
      {"redundancy-100-nau", "NAU with 98 redundant inputs, addition and subtraction", "NAU", "add,sub", 100},
  };
  return all;
}

Result<const Preset*> find_preset(std::string_view name) {
  std::string known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return &preset;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", preset.name);
  }
  return Error{fmt::format("there is no preset \"{}\"; the presets are {}.", name, known)};
}

}  // namespace nalm
