// Why a run failed, read off its weights.
//
// Nothing here knows a module. What an array means says its Role (nalm/module.hpp). Weights with one entry per input
// are the ones that are judged: 1 for the operands (-1 for what is subtracted or divided by) and 0 for every other
// input.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "experiment/cell.hpp"

namespace nalm {

// The first that applies, in this order; NotConverged where the weights say Stuck but the validation error still moves.
enum class FailureKind {
  NotANumber,     // the run was lost, or its best row is not finite
  WrongWeights,   // a weight's nearest whole number is not the wanted one, or a gate decided for the wrong side
  GateUndecided,  // a gate is farther than 0.01 from 0 and 1, or not the same for all inputs of the test range
  Stuck,          // a weight is farther than 0.1 from its target, and the validation error changed by less than 1 %
  NotConverged,   // in the last fifth of the rows, or by more
  Imprecise,      // every weight is close to its target, but the error is above the threshold
};
std::string_view name_of(FailureKind kind);

// For a run that judge calls a failure, at the judged row. A run without stored parameters is Imprecise, and the detail
// says that they are missing. One of a stack is not a number, stuck or not converged: its weights have no targets.
Failure diagnose(const Cell& cell, const RunRecord& record, const RunResult& result);

// A sparsity, unit or saturation regulariser pushes weights to discrete values from some iteration on. Which ones it
// can reach is decided before: a run whose weights do not round to their targets by then is in the wrong basin.
enum class Basin {
  NoRegulariser,          // the recipe has none, or it was on from the first row or off until the last; or a stack
  WrongBasin,             // some weight did not round to its target
  RegularisationFailure,  // all did, and the run still failed
  Solved,
};

// The last logged row at which the regulariser was still off, and two tests of it.
struct BeforeRegularisation {
  std::size_t row = 0;
  bool below_loose_threshold = false;     // test error below epsilon_threshold with 0.49, the survey's suggestion
  bool weights_round_to_targets = false;  // and gates
};
std::optional<BeforeRegularisation> before_regularisation(const Cell& cell, const RunRecord& record,
                                                          std::uint32_t seed);

// The rounding test decides, because the error is not monotone in each weight: a small error on a narrow range may
// belong to weights that round to something else.
Basin basin(const Cell& cell, const RunRecord& record, const RunResult& result);
std::string_view name_of(Basin basin);

}  // namespace nalm
