// The paper's other experiments, each a named task: what is trained, on what, what is measured, and what was published.
//
// A task is a list of arms. An arm is one cell of the task's table: a network, the recipe that trains it, the data of a
// run, and what is measured at every logged row. The engine, the store and the tables know nothing else.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/result.hpp"
#include "simd/dispatch.hpp"
#include "train/bundle.hpp"

namespace nalm {

// Rows that a network is measured on, row-major.
struct Rows {
  std::vector<double> x, t;
};

// The data of one run. Everything depends on the run's seed only.
class RunData {
 public:
  virtual ~RunData() = default;
  // The batch of an iteration: recipe.batch rows.
  virtual void batch(long iteration, std::span<double> x, std::span<double> t) = 0;
  // The rows of set k of the arm's measures.
  virtual Rows set(int k) = 0;
};

// The batches of a whole bundle at once, in lane layout, for tasks where drawing them run by run would take most of the
// time.
class LaneSource {
 public:
  virtual ~LaneSource() = default;
  virtual void batch(long iteration, float* x, float* t) = 0;
};

struct Measure {
  enum class Kind {
    Mse,
    Mae,
    Within,    // share of the outputs with |y - t| < tolerance
    Sparsity,  // of the effective weights, as in the single module task
    NonZero,   // how many parameters are above 1e-3 in size
  };
  std::string name;
  Kind kind = Kind::Mse;
  int set = 0;  // which rows; of no meaning for the last two kinds
  double tolerance = 0;
};

// When a run has succeeded.
struct Goal {
  std::string measure;    // whose value is judged
  std::string best_by{};  // at the row where this measure is smallest; empty: at the last row
  double limit = 0;
  bool above = false;  // success is above the limit instead of below
  // The error that weights just good enough to be rounded have; judged at the last row before regularisers start.
  std::optional<double> loose_limit{};
};

// What a run logged. The last entry of the store about it.
struct RunRecord {
  std::vector<long> steps;
  std::vector<std::vector<double>> values;  // [row][measure]
  std::vector<double> parameters;           // of the judged row, layer by layer
  std::string note;                         // what the run found, in words or as a formula
};

// What an arm that does not train a single network is told.
struct OwnRunSettings {
  std::uint32_t seed = 0;
  std::optional<double> learning_rate;  // instead of its own; 0 must make the task's checks fail
  std::optional<long> iterations;       // instead of its own
  const std::atomic<bool>* stop = nullptr;
};

struct Arm {
  std::string model, operation, setting;  // the cell; together they are unique within the task

  Stack stack;
  std::optional<Wiring> wiring;  // if the layers are not simply stacked
  Recipe recipe;
  Precision precision = Precision::Float;
  long log_every = 1000;
  std::vector<Measure> measures;
  // Sets that need another wiring of the same layers: [set] or empty. Sequences that are longer than in training.
  std::vector<std::optional<Wiring>> set_wirings;
  Goal goal;
  // A run ends early, after this iteration, once it met its goal (at the row itself) at three logged rows in a row.
  std::optional<long> may_end_after;
  std::function<std::unique_ptr<RunData>(std::uint32_t seed)> data;
  std::function<std::unique_ptr<LaneSource>(const simd::Target&, std::span<const std::uint32_t> seeds)> lane_source;

  // Instead of stack, recipe and data: a run that is more than the training of a network.
  std::function<Result<RunRecord>(const OwnRunSettings&)> own;
  double own_cost = 1;  // against other own runs of the task, for the progress bar

  std::string cell() const { return model + " | " + operation + " | " + setting; }
};

// What a task's quick preset must reach: the success rate or the median of a measure at the judged row.
struct Check {
  std::string_view model, operation, setting;
  std::string_view measure;  // "success" or a measure's name
  bool at_least = true;      // otherwise at most
  double value = 0;
};

struct TaskPreset {
  std::string_view name;  // "quick", "full", ...
  std::string_view meaning;
  int seeds = 10;
  std::string_view time;  // on two cores
};

struct Task {
  std::string_view name, title, source;
  std::string_view settings;                        // data, networks, training, in a few sentences
  std::span<const std::string_view> differences{};  // from the papers, and why
  std::span<const TaskPreset> presets{};            // the first is "quick", the second the default
  std::span<const Check> checks{};                  // of the preset "quick"
  std::vector<Arm> (*arms)(std::string_view preset) = nullptr;
};

// All tasks, in the order of `nalm list --tasks`.
std::span<const Task* const> all_tasks();
Result<const Task*> find_task(std::string_view name);
Result<const TaskPreset*> find_preset(const Task& task, std::string_view name);  // "": the default

// ---- for writing tasks ---------------------------------------------------------------------------------------------

// A stream for one purpose of one run: different purposes, different numbers.
Xoshiro stream_of(std::string_view purpose, std::uint32_t seed);

// parse_stack for stacks that are known to be right.
Stack stack_of(std::string_view text, int inputs);

}  // namespace nalm
