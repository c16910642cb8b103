// Any bytes as what chooses runs, and as what the store keeps about them: nothing crashes, a refusal says why, and what
// can be read prints as a text that reads back as the same.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/plan.hpp"
#include "tasks/single_module/ranges.hpp"
#include "train/recipe_fields.hpp"

namespace {

using namespace nalm;

void require(bool condition) {
  if (!condition) std::abort();
}

template <class T>
bool readable(const Result<T>& result) {
  if (!result) require(!result.error().message.empty());
  return result.ok();
}

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool same(const Range& a, const Range& b) {
  if (a.second.has_value() != b.second.has_value()) return false;
  const bool first = same(a.lo, b.lo) && same(a.hi, b.hi);
  return first && (!a.second || (same(a.second->lo, b.second->lo) && same(a.second->hi, b.second->hi)));
}

void check_range(std::string_view text) {
  const Result<Range> range = parse_range(text);
  if (!readable(range)) return;
  require(range->lo < range->hi);
  const Result<Range> again = parse_range(name_of(*range));
  require(again.ok() && same(*again, *range));
}

// Both halves: training ranges, and test ranges after a line's end.
void check_ranges(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto ranges = parse_ranges(text.substr(0, end), text.substr(std::min(end + 1, text.size())));
  if (!readable(ranges)) return;
  require(!ranges->empty());
  std::string train, test;
  for (const TaskRange& range : *ranges) {
    require(!range.train.second);
    train += (train.empty() ? "" : ",") + name_of(range.train);
    test += (test.empty() ? "" : ",") + name_of(range.test);
  }
  const auto again = parse_ranges(train, test);
  require(again.ok() && again->size() == ranges->size());
  for (std::size_t k = 0; k < ranges->size(); ++k)
    require(same((*again)[k].train, (*ranges)[k].train) && same((*again)[k].test, (*ranges)[k].test));
}

void check_seeds(std::string_view text) {
  // A few characters may ask for a million seeds, which is right, but slow.
  if (std::count(text.begin(), text.end(), '.') > 4) return;
  const auto seeds = parse_seeds(text);
  if (!readable(seeds)) return;
  require(!seeds->empty());
  if (seeds->size() > 1000) return;
  std::string list;
  for (const std::uint32_t seed : *seeds) list += (list.empty() ? "" : ",") + std::to_string(seed);
  const auto again = parse_seeds(list);
  require(again.ok() && *again == *seeds);
}

void check_names(std::string_view text) {
  if (const auto operations = parse_operations(text); readable(operations)) {
    std::string list;
    for (const Operation operation : *operations) list += (list.empty() ? "" : ",") + std::string(name_of(operation));
    const auto again = parse_operations(list);
    require(again.ok() && *again == *operations);
  }
  if (const auto modules = parse_modules(text); readable(modules)) {
    std::string list;
    for (const ModuleInfo* module : *modules) list += (list.empty() ? "" : ",") + std::string(module->name);
    const auto again = parse_modules(list);
    require(again.ok() && *again == *modules);
  }
}

void check_json(std::string_view text) {
  if (const Result<Plan> plan = plan_from_json(text); readable(plan)) {
    const std::string printed = to_json(*plan);
    const Result<Plan> again = plan_from_json(printed);
    require(again.ok() && to_json(*again) == printed);
    require(again->task == plan->task && again->seeds == plan->seeds && again->options == plan->options);
    require(again->log_every == plan->log_every && again->iterations == plan->iterations);
  }
  if (const Result<Recipe> recipe = recipe_from_json(text); readable(recipe)) {
    const std::string printed = to_json(*recipe);
    const Result<Recipe> again = recipe_from_json(printed);
    require(again.ok() && to_json(*again) == printed);
    require(again->training.iterations == recipe->training.iterations &&
            again->training.batch == recipe->training.batch);
  }
  // What is changed once is as it should be; changing it again changes nothing.
  if (const Result<Recipe> changed = change_recipe({}, text); readable(changed)) {
    const Result<Recipe> again = change_recipe(*changed, text);
    require(again.ok() && to_json(*again) == to_json(*changed));
    require(recipe_from_json(to_json(*changed)).ok());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check_range(input);
  check_ranges(input);
  check_seeds(input);
  check_names(input);
  check_json(input);
  return 0;
}
