// What is run: a cell of a task's table, and what a run of it logged.
//
// A cell is (model, operation, setting): a network, the recipe that trains it, the data of a run, what is measured at
// every logged row, and when a run has succeeded. A run is a cell and a seed. Executors, the store, summaries, tables,
// comparisons and pages know nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/criterion.hpp"
#include "nalm/model.hpp"
#include "nalm/result.hpp"
#include "nalm/wiring.hpp"
#include "simd/dispatch.hpp"

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
  // The rows of set k of the cell's measures.
  virtual Rows set(int k) = 0;
};

// The batches of a whole bundle at once, in lane layout, for tasks where drawing them run by run would take most of the
// time.
class LaneSource {
 public:
  virtual ~LaneSource() = default;
  virtual void batch(long iteration, float* x, float* t) = 0;
};

// How many are above 1e-3 in size.
double non_zero_count(std::span<const double> parameters);

struct Measure {
  enum class Kind {
    Mse,
    Mae,
    Within,    // share of the outputs with |y - t| < tolerance
    Sparsity,  // of the effective weights, as in the single module task
    NonZero,   // non_zero_count of the parameters
    Other,     // what only an executor of its own can measure
  };
  std::string name;
  Kind kind = Kind::Mse;
  int set = 0;  // which rows; of meaning for the first three kinds only
  double tolerance = 0;
  bool is_float = false;  // logged as a float, so that its shortest text is that of the float
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

// What a run logged.
struct RunRecord {
  std::vector<long> steps;
  std::vector<std::vector<double>> values;      // [row][measure]
  std::vector<std::vector<double>> parameters;  // [row], layer by layer; empty where they were not kept
  std::string note;                             // what the run found, in words or as a formula
  // What else there is to say, by name.
  std::vector<std::pair<std::string, std::string>> facts;

  std::size_t rows() const { return steps.size(); }
  // Of the last row alone.
  void keep(std::vector<double> of_last_row) {
    parameters.assign(rows(), {});
    parameters.back() = std::move(of_last_row);
  }
};

// What a cell that does not train a single network is told.
struct OwnRunSettings {
  std::uint32_t seed = 0;
  std::optional<double> learning_rate;  // instead of its own; 0 must make the task's checks fail
  std::optional<long> iterations;       // instead of its own
  int threads = 1;                      // it may use
  std::stop_token stop{};
  std::function<void(double)> progress;  // what is done of it, from 0 to 1; may be empty
};

struct Cell;
struct RunResult;  // experiment/summary.hpp

// Why a run failed.
struct Failure {
  std::string kind;    // of a few words, so that failures can be counted
  std::string detail;  // "W[2] = -0.98 instead of 1"
  std::string when;    // whether the regulariser could still have saved it, or empty
};

// What a task knows about a cell beyond its network. Tasks derive theirs; what they do not know stays unsaid.
class Problem {
 public:
  virtual ~Problem() = default;
  // The value of the goal's measure, of the correlation or of the relative error that a model has whose weights are
  // all off by epsilon; nothing if the task does not say what such a model is.
  virtual std::optional<double> limit(const Criterion&, std::uint32_t /*seed*/) const { return std::nullopt; }
  // Inputs and targets that success is judged on; nothing if there are none.
  virtual std::shared_ptr<const Rows> test_rows(std::uint32_t /*seed*/) const { return nullptr; }
  // Why a run of the cell failed.
  virtual std::optional<Failure> diagnose(const Cell&, const RunRecord&, const RunResult&) const {
    return std::nullopt;
  }
};

struct Cell {
  std::string model, operation, setting;  // together they are unique within the task

  Cell() = default;
  Cell(std::string_view of_model, std::string_view of_operation, std::string_view of_setting)
      : model(of_model), operation(of_operation), setting(of_setting) {}

  Stack stack;
  std::optional<Wiring> wiring;  // if the layers are not simply stacked
  Recipe recipe;
  Precision precision = Precision::Float;
  long log_every = 1000;
  bool keeps_parameters = false;  // of every logged row, and not only of the judged one
  std::vector<Measure> measures;
  // Sets that need another wiring of the same layers: [set] or empty. Sequences that are longer than in training.
  std::vector<std::optional<Wiring>> set_wirings;
  Goal goal;
  // A run ends early, after this iteration, once it met its goal (at the row itself) at three logged rows in a row.
  std::optional<long> may_end_after;
  std::function<std::unique_ptr<RunData>(std::uint32_t seed)> data;
  std::function<std::unique_ptr<LaneSource>(const simd::Target&, std::span<const std::uint32_t> seeds)> lane_source;
  std::shared_ptr<const Problem> problem;

  // Instead of stack, recipe and data: a run that is more than the training of a network.
  std::function<Result<RunRecord>(const OwnRunSettings&)> own;
  double own_cost = 1;                      // against other own runs of the task, for the progress bar
  std::optional<long> own_iterations;       // what it is told; filled in from the plan
  std::optional<double> own_learning_rate;  // the same
  bool own_uses_all_threads = false;        // one such run at a time

  std::string name() const { return model + " | " + operation + " | " + setting; }
  // Some cells only measure.
  bool has_goal() const { return !goal.measure.empty(); }
  std::optional<std::size_t> position(std::string_view measure) const;
  long iterations() const { return recipe.training.iterations; }
};

// The different values of a part, in order: std::vector models = distinct(cells, &Cell::model).
std::vector<std::string> distinct(const std::vector<Cell>& cells, std::string Cell::*part);

struct RunId {
  std::size_t cell = 0;  // position in the list of cells
  std::uint32_t seed = 0;

  auto operator<=>(const RunId&) const = default;
};

// The row where a run is judged: the one whose measure Goal::best_by is smallest, the earliest of equal ones; the last
// if that is nowhere a number, or if there is no such measure.
std::size_t judged_row(const Cell& cell, const RunRecord& record);

// The iteration at which the first regulariser with a ramp starts; none: nothing.
std::optional<double> regularised_from(const Cell& cell);

// The network of a run as it was at a logged row. Says why there is none.
Result<Model> model_at(const Cell& cell, const RunRecord& record, std::size_t row);

}  // namespace nalm
