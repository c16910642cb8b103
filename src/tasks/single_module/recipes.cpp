#include "tasks/single_module/recipes.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "train/recipe_fields.hpp"

namespace nalm {
namespace {

bool ten_or_hundred(int inputs) { return inputs == 10 || inputs == 100; }
bool more_than_two(int inputs) { return inputs > 2; }
bool any_number(int) { return true; }

struct Row {
  std::vector<std::string_view> modules;
  std::optional<Operation> operation;
  bool (*inputs)(int);
  std::string_view changes;  // as for change_recipe
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      // The survey, on redundant inputs.
      {{"NAU"}, {}, ten_or_hundred, R"({"iterations": 100000,
        "regularisers": [{"kind": "sparsity", "strength": 0.01, "start": 50000, "end": 75000}]})"},
      // Mistry, Farrahi and Hare: the ramp for 10 inputs.
      {{"sNMU", "sNMU-batch"}, {}, more_than_two, R"({"iterations": 100000,
        "regularisers": [{"kind": "sparsity", "strength": 10, "start": 50000, "end": 75000}]})"},
      {{"NRU", "NRU-separate"}, {}, more_than_two, R"({"iterations": 100000, "optimiser": {"learning_rate": 0.001},
        "regularisers": [{"kind": "sparsity", "strength": 10, "start": 50000, "end": 75000}]})"},
      {{"NMRU", "NMRU-vanilla", "sNMRU"}, {}, more_than_two, R"({"iterations": 100000,
        "regularisers": [{"kind": "sparsity", "strength": 5, "start": 50000, "end": 75000}]})"},
      {{"RealNPU-modified"}, {}, more_than_two, R"({"iterations": 100000,
        "regularisers": [{"kind": "unit", "parameter": "W_re", "strength": 1, "start": 50000, "end": 75000},
                         {"kind": "sparsity", "parameter": "g", "strength": 1, "start": 50000, "end": 75000},
                         {"kind": "l1", "strength": 1e-9, "growth": 10, "every": 10000, "limit": 1e-7}]})"},
      // The study from which it came, docs/results/redundant-inputs.md.
      {{"NRU-log"}, {}, more_than_two, R"({"iterations": 100000, "cool_down": {"start": 50000, "end": 100000},
        "regularisers": [{"kind": "sparsity", "strength": 0.1, "start": 50000, "end": 75000}]})"},
      // The survey's beta for division, 100 times smaller than for multiplication.
      {{"NPU", "RealNPU", "NaiveNPU"}, Operation::Divide, any_number, R"({
        "regularisers": [{"kind": "l1", "strength": 1e-9, "growth": 10, "every": 10000, "limit": 1e-7}]})"},
  };
  return all;
}

}  // namespace

Recipe single_module_recipe(const ModuleInfo& module, Operation operation, int inputs) {
  Recipe recipe = module.recipe();
  for (const Row& row : rows()) {
    const bool named = std::find(row.modules.begin(), row.modules.end(), module.name) != row.modules.end();
    if (named && row.operation.value_or(operation) == operation && row.inputs(inputs))
      recipe = *change_recipe(recipe, row.changes);
  }
  return recipe;
}

}  // namespace nalm
