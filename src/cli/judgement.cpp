#include "cli/judgement.hpp"

#include "report/table.hpp"

namespace nalm::cli {

Command& JudgementOptions::add_to(Command& command) {
  std::vector<std::string> names{"all"};
  std::string meanings = "What is shown: everything (all)";
  for (const Metric& m : metrics()) {
    names.emplace_back(m.name);
    meanings += "; " + std::string(m.meaning) + " (" + std::string(m.name) + ")";
  }
  names.insert(names.end(), {"correlation", "mape"});
  meanings +=
      "; success by the correlation or the mean relative error that the model with every weight off by --epsilon has "
      "(correlation, mape)";
  return command.choice("--metric", metric, names, meanings)
      .flag("--paper-intervals", paper_intervals,
            "Estimates and intervals as the published tables printed them, with their errors")
      .number("--epsilon", epsilon, "How far off every weight of the threshold's model is (1e-5)")
      .flag("--log-space", log_space, "The threshold's model is off in its powers: mul and div")
      .number("--limit", limit,
              "With --metric threshold: the error below which, or the accuracy above which, a run has succeeded (1e-5)")
      .number("--correlation", correlation, "Success: correlation of output and target of at least this")
      .number("--mape", mape, "Success: mean relative error of at most this, as a fraction");
}

bool JudgementOptions::given() const {
  return paper_intervals || !metric.empty() || epsilon || limit || log_space || correlation || mape;
}

Result<Judgement> JudgementOptions::get() const {
  const bool by_correlation = correlation || metric == "correlation", by_mape = mape || metric == "mape";
  if (by_correlation + by_mape + log_space + limit.has_value() > 1)
    return Error{
        "a run is judged by one criterion: --epsilon with or without --log-space, --correlation, --mape, or "
        "--metric threshold with --limit."};
  if (epsilon && (limit || correlation || mape))
    return Error{"--epsilon derives a limit, and one is given; leave one of the two away."};
  if (limit && metric != "threshold")
    return Error{"--limit belongs to --metric threshold, as in --metric threshold --limit 1e-5."};
  if (epsilon && !(*epsilon > 0 && *epsilon < 1)) return Error{"--epsilon must lie between 0 and 1."};
  if (limit && !(*limit > 0)) return Error{"--limit must be a number above 0, such as 1e-5."};
  if (correlation && !(*correlation >= -1 && *correlation <= 1))
    return Error{"--correlation must lie between -1 and 1."};
  if (mape && !(*mape > 0)) return Error{"--mape must be above 0; 0.01 is one per cent."};
  Judgement judgement;
  judgement.paper_intervals = paper_intervals;
  Criterion& criterion = judgement.criterion;
  criterion.epsilon = epsilon.value_or(criterion.epsilon);
  criterion.kind = by_correlation          ? Criterion::Kind::Correlation
                   : by_mape               ? Criterion::Kind::Mape
                   : metric == "threshold" ? Criterion::Kind::Limit
                   : log_space             ? Criterion::Kind::LogSpace
                   : epsilon               ? Criterion::Kind::Epsilon
                                           : Criterion::Kind::Goal;
  criterion.limit = correlation ? correlation : mape ? mape : limit;
  if (criterion.kind == Criterion::Kind::Limit && !limit) criterion.limit = 1e-5;  // Schlör's, for all cells
  return judgement;
}

}  // namespace nalm::cli
