#include "cli/judgement.hpp"

namespace nalm::cli {

Command& JudgementOptions::add_to(Command& command) {
  return command
      .flag("--paper-intervals", paper_intervals,
            "Estimates and intervals as the published tables printed them, with their errors")
      .number("--epsilon", epsilon, "How far off every weight of the threshold's model is (1e-5)")
      .flag("--log-space", log_space, "The threshold's model is off in its powers: mul and div")
      .number("--correlation", correlation, "Instead: correlation of output and target of at least this")
      .number("--mape", mape, "Instead: mean relative error of at most this, as a fraction");
}

bool JudgementOptions::given() const { return paper_intervals || epsilon || log_space || correlation || mape; }

Result<Judgement> JudgementOptions::get() const {
  if ((correlation.has_value() + mape.has_value() + (epsilon || log_space)) > 1)
    return Error{"a run is judged by one criterion: --epsilon and --log-space, or --correlation, or --mape."};
  Judgement judgement;
  judgement.paper_intervals = paper_intervals;
  Criterion& criterion = judgement.criterion;
  if (epsilon) {
    if (!(*epsilon > 0 && *epsilon < 1)) return Error{"--epsilon must lie between 0 and 1."};
    criterion.epsilon = *epsilon;
  }
  if (log_space) criterion.kind = Criterion::Kind::LogSpaceMse;
  if (correlation) {
    if (!(*correlation >= -1 && *correlation <= 1)) return Error{"--correlation must lie between -1 and 1."};
    criterion.kind = Criterion::Kind::Pearson;
    criterion.limit = *correlation;
  }
  if (mape) {
    if (!(*mape > 0)) return Error{"--mape must be above 0; 0.01 is one per cent."};
    criterion.kind = Criterion::Kind::Mape;
    criterion.limit = *mape;
  }
  return judgement;
}

}  // namespace nalm::cli
