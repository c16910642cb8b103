// Which runs a benchmark consists of: pairs of module and operation, ranges, seeds, and what is changed from the
// modules' own recipes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/series.hpp"
#include "nalm/result.hpp"
#include "train/recipe_fields.hpp"

namespace nalm {

struct Pair {
  const ModuleInfo* module = nullptr;
  Operation operation = Operation::Add;

  bool operator==(const Pair&) const = default;
};

struct Grid {
  std::vector<Pair> pairs;
  std::vector<TaskRange> ranges;
  std::vector<std::uint32_t> seeds;
  int inputs = 2;
  long log_every = 1000;
  std::optional<long> iterations;       // otherwise the recipe's
  std::optional<double> learning_rate;  // otherwise the recipe's
  std::string recipe_changes;           // JSON that is merged into every recipe (RFC 7396), or empty

  std::size_t run_count() const { return pairs.size() * ranges.size() * seeds.size(); }
};

// The recipe of a pair with this number of inputs: the one of single_module_recipes.hpp, and the grid's changes, which
// have been checked (change_recipe). A change of the number of iterations never rescales a schedule.
Recipe resolve_recipe(const Grid& grid, const Pair& pair);

// Every run, ordered by range, then seed, then pair.
std::vector<RunId> runs_of(const Grid& grid);

// ---- names
// -----------------------------------------------------------------------------------------------------------

std::string name_of(const Range& range);  // "U[1,2)"; two parts: "U[-6,-2)+[2,6)"

// "[1,2)", "U[1,2)", "[-6,-2)+[2,6)".
Result<Range> parse_range(std::string_view text);
// Numbers of the paper's list or ranges, separated by commas: "0,6,[-2,2)". A range that the paper does not have needs
// a test range: one for all, or one for each, in order.
Result<std::vector<TaskRange>> parse_ranges(std::string_view text, std::string_view test_ranges);
// "3", "3,11", "0..24", "0..4,10".
Result<std::vector<std::uint32_t>> parse_seeds(std::string_view text);
// "add,div".
Result<std::vector<Operation>> parse_operations(std::string_view text);
Result<Operation> parse_operation(std::string_view text);
// "NAU,NMU"
Result<std::vector<const ModuleInfo*>> parse_modules(std::string_view text);

// The pairs that can be learned. An error if there is none; skipped says which were asked for but cannot.
Result<std::vector<Pair>> make_pairs(std::span<const ModuleInfo* const> modules, std::span<const Operation> operations,
                                     std::vector<std::string>& skipped);

// ---- presets
// ---------------------------------------------------------------------------------------------------------

struct Preset {
  std::string_view name;
  std::string_view meaning;
  std::string_view modules, operations;  // as for parse_modules and parse_operations
  int inputs = 2;
  std::optional<long> iterations{};  // otherwise the recipes'
};
std::span<const Preset> presets();
Result<const Preset*> find_preset(std::string_view name);

// ---- as text, for the store
// ------------------------------------------------------------------------------------------

std::string to_json(const Grid& grid);
Result<Grid> grid_from_json(std::string_view text);
// Whether the grid's changes can be made to the recipe of every pair.
Status check_recipe_changes(const Grid& grid);

}  // namespace nalm
