#include "fit/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <fmt/format.h>

#include "fit/description.hpp"
#include "fit/doubt.hpp"
#include "fit/jump.hpp"
#include "fit/rounding.hpp"
#include "nalm/detail/portable.hpp"
#include "numeric/student.hpp"

namespace nalm {

std::string_view name_of(Verdict verdict) {
  return verdict == Verdict::Law ? "law" : verdict == Verdict::Approximation ? "approximation" : "none";
}

namespace fitting {

namespace {

constexpr std::size_t points_for_judging = 1000;

// Limits of the tests; docs/design/012-trust.md has their reasons.
constexpr double largest_p_value = 1e-3;   // that noise has so good a formula
constexpr double smallest_chance = 1e-4;   // that noise asks for another term as clearly
constexpr double strongest_pattern = 4.5;  // of neighbours, in standard deviations
// Outside, in deviations. A formula of more than two constants may be the beginning of a series, and has to be surer.
constexpr double largest_disagreement = 0.2, largest_disagreement_of_many = 0.15;
constexpr double least_finite = 0.85;  // share of the box twice as wide, of which a thousand points are looked at
constexpr std::size_t most_of_an_exact_law = 5;  // numbers
constexpr double worst_approximation = 0.5;      // cross-validated error, in deviations
constexpr double evaluation_error = 1e-14;       // of a formula in double precision, in sizes of the target

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

FitError error_of(const std::vector<double>& errors, const Data& data) {
  FitError error;
  error.rows = errors.size();
  double sum = 0;
  for (const double e : errors) {
    sum += e * e;
    if (!(std::fabs(e) <= error.largest)) error.largest = std::fabs(e);
  }
  if (std::isnan(sum)) sum = error.largest = infinity;
  error.rmse = errors.empty() ? 0 : std::sqrt(sum / static_cast<double>(errors.size()));
  error.relative = error.rmse / data.y_deviation;
  return error;
}

class Judging {
 public:
  Judging(const Candidate& candidate, const Data& data, const Grounds& grounds, const Spoken& spoken, int restarts)
      : candidate_(candidate),
        data_(data),
        places_(grounds.of(candidate)),
        neighbours_(grounds.neighbours),
        spoken_(spoken),
        restarts_(restarts),
        tangent_(candidate, data, places_) {}

  FitJudgement judged() {
    if (!tangent_.defined()) return refused(fmt::format("{} has no finite value on some rows", spoken_.it));
    measure();
    const std::size_t rows = places_.rows(), fitted = numbers();
    if (rows < fitted + 2)
      return refused(fmt::format("{} rows are too few to judge {} with {} constants", rows, spoken_.it, fitted));
    if (!(result_.p_value < largest_p_value)) {
      return refused(fmt::format("{} rows of noise have a formula that is as good and as simple with a chance of {}",
                                 rows, percent(result_.p_value)));
    }
    if (!(result_.cross_validated < worst_approximation)) {
      return refused(fmt::format("{} leaves {} of the target's deviation on rows that it was not fitted to", spoken_.it,
                                 percent(result_.cross_validated)));
    }
    result_.verdict = Verdict::Approximation;
    // Rows with the same inputs test the noise, not the form.
    if (const std::size_t different = different_inputs(); different < fitted + 3) {
      return refused(
          fmt::format("its columns have {} different values, too few to judge {} constants", different, fitted));
    }
    const double rounding = std::max(rounding_error_of(data_.y), evaluation_error * data_.y_scale);
    const bool exact = tangent_.squares() <= rounding * rounding * static_cast<double>(rows);
    const Doubts doubts = doubts_about(candidate_, data_, places_, tangent_, rounding);
    result_.disagreement = doubts.outside;
    looks_like_noise_ = !exact;
    if (!exact) {
      const Pattern pattern = neighbours_.pattern_in(candidate_, tangent_);
      result_.pattern = pattern.strength;
      if (pattern.strength > strongest_pattern) return patterned(pattern.along);
      if (doubts.chance < smallest_chance) return patterned(doubts.along);
    }
    // One restart alone does not agree with anybody. Where all numbers are simple ones there is nothing to agree on,
    // and a function with two numbers, as a wave, is one of few that are tried one after the other.
    const bool simple = all_simple(candidate_), functions = has_functions(candidate_.formula);
    const int fewest = simple || (functions && candidate_.constants.size() <= 2) ? 1 : 2;
    if (restarts_ > 1 && candidate_.agreeing < fewest && !exact) {
      const char* how_many = candidate_.agreeing == 0 ? "none" : "only one";
      return refused(fmt::format("{} of {} restarts spells {}", how_many, restarts_, spoken_.it));
    }
    // What gives every row with a few numbers is no series that happens to come close.
    const bool short_and_exact = exact && (simple || candidate_.constants.size() <= most_of_an_exact_law);
    if (!short_and_exact && !(doubts.finite > least_finite))
      return refused(
          fmt::format("{} has a value on {} of the box twice as wide only", spoken_.it, percent(doubts.finite)));
    std::optional<Jump> jump = largest_jump(candidate_.formula, data_);
    if (functions && !jump && !exact) jump = steepest_jump(candidate_.formula, data_);
    if (jump && jump->size > largest_disagreement) {
      return refused(fmt::format("{} jumps at {} = {:.4g}, and no row says where else it would, outside", spoken_.it,
                                 jump->column, jump->limit));
    }
    // That all numbers came out as simple ones speaks against a further term, which would have moved them.
    const bool many = candidate_.constants.size() > 2 || functions;
    if ((!simple || candidate_.constants.empty()) &&
        !(doubts.outside < (many ? largest_disagreement_of_many : largest_disagreement))) {
      result_.rival = fmt::format("one with a further term in {}", doubts.open);
      return refused(
          fmt::format("a further term in {} fits the rows as well and changes the values on a box twice as "
                      "wide by {} of their deviation",
                      doubts.open, percent(doubts.outside)));
    }
    result_.verdict = Verdict::Law;
    result_.reason = exact ? "the formula gives every row to rounding"
                           : fmt::format("the formula leaves {} of the target's deviation, which looks like noise",
                                         percent(train_.relative));
    return result_;
  }

  FitError train_, held_out_, outside_;
  bool looks_like_noise_ = false;  // what is left, and it is more than rounding

 private:
  // Fitted numbers: those that the tangent knows, and powers.
  std::size_t numbers() const {
    std::size_t powers = 0;
    for (const FitConstant& c : candidate_.constants) powers += c.slot.empty() && !c.snapped ? 1 : 0;
    return tangent_.constants() + powers;
  }

  std::size_t different_inputs() const {
    std::vector<std::size_t> used;
    for (const std::string& name : variables(candidate_.formula)) used.push_back(data_.position(name));
    std::set<std::vector<double>> seen;
    for (std::size_t k = 0; k < places_.rows(); ++k) {
      std::vector<double> values;
      for (const std::size_t i : used) values.push_back(places_.x[k][i]);
      seen.insert(std::move(values));
    }
    return seen.size();
  }

  FitJudgement refused(const std::string& why) {
    result_.reason = fmt::format("{}: {}", result_.verdict == Verdict::None ? spoken_.refusal : spoken_.no_law, why);
    return result_;
  }
  FitJudgement patterned(const std::string& along) {
    looks_like_noise_ = false;
    return refused(fmt::format("{} ({} of the target's deviation) are no noise, they follow {}", spoken_.its_errors,
                               percent(train_.relative), along));
  }

  double weight(std::size_t k) const { return data_.weight.empty() ? 1 : data_.weight[places_.row[k]]; }
  FitError plain(const std::vector<std::size_t>& rows, std::vector<double> errors) const {
    FitError error = error_of(errors, data_);
    for (std::size_t k = 0; k < rows.size(); ++k) errors[k] /= weight(rows[k]);
    error.largest = error_of(errors, data_).largest;
    error.rmse *= data_.error_unit;
    return error;
  }

  void measure() {
    const std::size_t rows = places_.rows();
    double mean = 0, weights = 0, total = 0, cross = 0;
    for (std::size_t k = 0; k < rows; ++k) {
      mean += weight(k) * weight(k) * data_.y[places_.row[k]];
      weights += weight(k) * weight(k);
    }
    mean /= weights;
    std::vector<double> errors;
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < rows; ++k) {
      const double from_mean = weight(k) * (data_.y[places_.row[k]] - mean);
      total += from_mean * from_mean;
      const double left_out = tangent_.errors()[k] / std::max(1e-12, 1 - tangent_.leverage(k));
      cross += left_out * left_out;
      errors.push_back(tangent_.errors()[k]);
      all.push_back(k);
    }
    // Errors in proportion are those of logarithms.
    if (data_.log_deviation > 0) total = data_.y_deviation * data_.y_deviation * static_cast<double>(rows);
    train_ = plain(all, errors);
    result_.r_squared = 1 - tangent_.squares() / total;
    result_.cross_validated = std::sqrt(cross / total);
    const double chance =
        numeric::chance_of_share_left(tangent_.squares() / total, std::max<std::size_t>(1, numbers()), rows);
    const double formulas = spoken_.searched ? portable::exp(length_of_structure(candidate_.formula, data_.inputs)) : 1;
    result_.p_value = std::min(1.0, chance * formulas);
    measure_edges();
    measure_sets();
  }

  // Each end of each column in the formula: its tenth, or quarter if rows are few.
  void measure_edges() {
    const std::size_t rows = places_.rows(), count = std::max<std::size_t>(1, rows < 40 ? rows / 4 : rows / 10);
    double worst = 0;
    for (const std::string& name : variables(candidate_.formula)) {
      std::vector<double> column;
      for (std::size_t k = 0; k < rows; ++k) column.push_back(places_.x[k][data_.position(name)]);
      std::vector<std::size_t> order = ranked(column);
      for (int end = 0; end < 2; ++end) {
        order.resize(rows);
        const std::vector<std::size_t> left_out(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
        worst = std::max(worst, plain(left_out, tangent_.errors_without(left_out)).relative);
        std::reverse(order.begin(), order.end());
      }
    }
    result_.edge = worst;
  }

  // The errors if only the training rows had given the constants.
  void measure_sets() {
    std::vector<std::size_t> held_out, outside, both;
    for (std::size_t k = 0; k < places_.rows(); ++k) {
      const FitRow set = data_.set_of_row[places_.row[k]];
      if (set == FitRow::Train) continue;
      (set == FitRow::HeldOut ? held_out : outside).push_back(k);
      both.push_back(k);
    }
    const std::vector<double> errors = tangent_.errors_without(both);
    std::vector<double> on_held_out, on_outside;
    for (std::size_t k = 0; k < both.size(); ++k)
      (data_.set_of_row[places_.row[both[k]]] == FitRow::HeldOut ? on_held_out : on_outside).push_back(errors[k]);
    held_out_ = plain(held_out, on_held_out);
    outside_ = plain(outside, on_outside);
  }

  const Candidate& candidate_;
  const Data& data_;
  const Places& places_;
  const Neighbours& neighbours_;
  const Spoken& spoken_;
  const int restarts_;
  const Tangent tangent_;
  FitJudgement result_;
};

}  // namespace

bool all_simple(const Candidate& candidate) {
  return std::all_of(candidate.constants.begin(), candidate.constants.end(),
                     [](const FitConstant& c) { return c.snapped; });
}

const Grounds& LazyGrounds::made(std::optional<Grounds>& grounds, std::size_t rows) {
  if (grounds) return *grounds;
  Places positive = places_of(data_, rows, points_for_judging, false);
  Neighbours neighbours(data_, positive, threads_);
  return grounds.emplace(
      Grounds{std::move(positive), places_of(data_, rows, points_for_judging, true), std::move(neighbours)});
}

bool judge(Candidate& candidate, const Data& data, const Grounds& grounds, const Spoken& spoken, int restarts) {
  Judging judging(candidate, data, grounds, spoken, restarts);
  candidate.judgement = judging.judged();
  candidate.train = judging.train_;
  candidate.held_out = judging.held_out_;
  candidate.outside = judging.outside_;
  return judging.looks_like_noise_;
}

void judge(Candidate& candidate, const Data& data, LazyGrounds& grounds, const Spoken& spoken, int restarts) {
  if (judge(candidate, data, grounds.few(), spoken, restarts) && grounds.has_many())
    judge(candidate, data, grounds.many(), spoken, restarts);
}

// Its strength is in standard deviations, which grow as the root of the rows.
bool seen_on(std::size_t rows, const FitJudgement& judgement, const Grounds& grounds) {
  const double share = static_cast<double>(rows) / static_cast<double>(grounds.positive.rows());
  return judgement.pattern * std::sqrt(std::min(1.0, share)) > strongest_pattern;
}

void doubt_by_rivals(Candidate& law, const std::vector<const Candidate*>& rivals, const Data& data,
                     const Grounds& grounds, const Spoken& spoken) {
  const Places& places = grounds.of(law);
  const Tangent tangent(law, data, places);
  for (const Candidate* rival : rivals) {
    const Tangent other(*rival, data, places);
    if (!other.defined()) continue;
    const double difference = difference_outside(tangent, other.values(), places, data);
    law.judgement.disagreement = std::max(law.judgement.disagreement, difference);
    if (difference < largest_disagreement) continue;
    law.judgement.verdict = Verdict::Approximation;
    law.judgement.rival = print(rival->formula);
    law.judgement.reason = fmt::format(
        "{}: {} fits the rows as well as {} and differs by {} of the deviation on a box "
        "twice as wide",
        spoken.no_law, law.judgement.rival, spoken.it, percent(difference));
    return;
  }
}

}  // namespace fitting
}  // namespace nalm
