// A table in, a formula out: sums, products, quotients, powers and comparisons of columns, with real constants.
//
//   const Result<Table> table = read_table_file("data.csv");
//   const Result<Fit> fit = nalm::fit(*table, {.target = "y"});
//   if (fit && fit->verdict() == Verdict::Law) std::puts(print(fit->best().formula).c_str());
//
// The formula is the model: the stack of layers in Candidate::model and the expression in Candidate::formula give the
// same numbers, and fit() checks that they do.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nalm/expression.hpp"
#include "nalm/formula_export.hpp"
#include "nalm/model.hpp"
#include "nalm/result.hpp"
#include "nalm/table.hpp"

namespace nalm {

enum class Powers { Integer, Half, Any };

// What FitOptions::functions may name.
inline constexpr std::string_view fit_functions[] = {"exp", "log", "sin", "cos", "tanh", "asin", "acos"};

// The names in "exp,log", or all of them for "all"; fit() says which it does not know.
std::vector<std::string> read_functions(std::string_view text);

// Columns and their units in "m:kg,v:m/s,E:J".
Result<std::vector<std::pair<std::string, std::string>>> read_units(std::string_view text);

// A row of units below the header becomes Table::units: every cell is a unit, empty, 1 or -, at least one stands above
// numbers, and no cell is a number that could be data. Fails if one is a unit and another cannot be read.
Status take_units(Table& table);

struct FitOptions {
  std::string target{};               // a column
  std::vector<std::string> inputs{};  // columns; empty: all others
  std::string stack{};                // "NAU:2,NMU:1": only this one; empty: the ladder
  Powers powers = Powers::Half;
  std::vector<std::string> functions{};  // of `fit_functions`, that may appear; empty: arithmetic alone
  std::vector<std::string> use{};        // columns that must appear in the formula
  std::vector<std::pair<std::string, std::string>> units{};  // of columns; without them those of the table, if any
  std::string by{};  // a column of words or numbers: each of its groups has a constant of its own
  // How much the squared error of a row counts, by at most one of these.
  std::string weights{};  // a column with the weights
  std::string sigma{};    // a column with the standard errors of the target
  bool relative = false;  // errors count in proportion to the target
  bool robust = false;    // rows that are far off are left out, and listed
  std::uint64_t seed = 1;
  int threads = 0;        // 0: all processors
  double time_limit = 0;  // seconds; 0: none. A fit that is cut says so, and is not repeatable to the bit
};

// What one set of rows says about a formula.
struct FitError {
  std::size_t rows = 0;
  double rmse = 0;      // root mean squared error: with sigma in units of it, with relative as a share of the target
  double relative = 0;  // rmse / standard deviation of the target on all rows
  double largest = 0;   // largest error
};

// A number in the formula. Exponents that were rounded, and numbers that are 1 because of how a formula is written,
// are not constants.
struct FitConstant {
  double value = 0;     // as in the formula
  double estimate = 0;  // least squares, before rounding to a simple number
  double low = 0;       // 99 % interval around the estimate
  double high = 0;
  bool snapped = false;  // value is a simple number inside the interval
  std::string slot{};    // its variable in Candidate::open_formula; empty for an exponent and for what is not written
  std::string name{};    // in a form that was given; empty otherwise
  std::string unit{};    // if units are given; empty for a pure number
};

// How far a formula can be trusted.
//   Law            it holds on rows it has not seen and at the edge of the data, leaves no pattern in the errors, and
//                  formulas that fit as well agree with it on a box twice as wide.
//   Approximation  good inside the data; nothing is claimed about the outside.
//   None           not even that.
enum class Verdict : std::uint8_t { None, Approximation, Law };
std::string_view name_of(Verdict verdict);  // "none", "approximation", "law"

// What the rows say about one formula. A figure that was not computed is NaN.
struct FitJudgement {
  Verdict verdict = Verdict::None;
  std::string reason{};                // one sentence without a full stop: what it leaves, or the test that it failed
  double r_squared = not_known;        // on all rows
  double cross_validated = not_known;  // relative error on rows that its constants were not fitted to, in turns
  double edge = not_known;             // the same for rows at the ends of the columns, the largest over the ends
  double p_value = not_known;          // the chance that noise has so good a formula among all that are as simple
  double pattern = not_known;          // how far the errors are from noise, in standard deviations
  double disagreement =
      not_known;        // of formulas that fit as well, on the box twice as wide, in deviations of the target
  std::string rival{};  // the one that disagrees most, or empty

  static constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
};

struct Candidate {
  Expression formula;       // as people write it
  Expression open_formula;  // as it was found, with variables in the place of constants: FitConstant::slot
  int size = 0;             // operations, variables and numbers in the formula as it was found
  Model model;              // the layers; predict(model, rows, Precision::Double) gives what the formula gives
  FitError train, held_out, outside;
  std::vector<FitConstant> constants;
  int agreeing = 0;        // restarts that spell this formula, constants aside
  double description = 0;  // description length: what the choice minimises
  FitJudgement judgement{};
};

// What happens on a box of inputs twice as wide as the data.
struct FitProbe {
  struct Range {
    std::string column;
    double low = 0, high = 0;  // of the data
    double probed_low = 0, probed_high = 0;
  };
  std::vector<Range> box;  // of the columns in the formula
  int points = 0;
  int undefined = 0;                 // points where the formula has no finite value
  std::vector<std::string> remarks;  // "the denominator b - c crosses zero, first at b = 2.1, c = 2.1"; empty if none
};

// The columns of a box whose data are all above 0.
std::vector<std::string> positive_columns(std::span<const FitProbe::Range> box);

// How far the values of a formula scatter at a new row: through its constants, and around it.
struct FitSpread {
  Expression formula;                // with variables in the place of the numbers that were fitted
  std::vector<std::string> names{};  // of these variables
  std::vector<double> values{};
  std::vector<double> covariance{};  // of the values, row by row
  double deviation = 0;              // of the errors; as a share of the target if relative
  double degrees = 0;                // of freedom: rows less numbers. 0: not known
  bool relative = false;
};

// FitOptions::by: every group has a constant of its own, that of the first being 1, or 0 if it is added.
struct FitGroups {
  struct Group {
    std::string name;
    std::size_t rows = 0;
    double value = 1, low = 1, high = 1;  // 99 % interval
  };
  std::string column{};
  bool added = false;  // to the formula; otherwise the formula is multiplied with it
  std::vector<Group> groups{};
};

enum class FitRow : std::uint8_t { Train, HeldOut, Outside };

struct Fit {
  std::vector<std::string> columns;  // the inputs
  std::string target;
  std::vector<std::string> units;  // of the inputs and then of the target, as they were given; empty: none were
  std::size_t rows = 0;
  std::vector<FitRow> set_of_row;
  std::vector<std::size_t> row_of_table;  // where the table has each row: those with missing values are left out
  std::vector<std::size_t> outliers;      // rows of the table that a robust fit left out

  std::string reason;                 // one sentence about the best candidate; why it is no law, if it is none
  std::vector<Candidate> candidates;  // smallest first: each has a smaller error than those before it
  std::size_t chosen = 0;             // index of the best

  int restarts = 0;                // trainings
  int converged = 0;               // of these, reached the error of the best candidate
  FitProbe probe;                  // of the best candidate
  FitSpread spread;                // of the best candidate
  FitGroups groups;                // empty without FitOptions::by
  bool verified = false;           // the printed formula, read back, gives what the model gives
  double verification_error = 0;   // largest difference, relative to the sum of the magnitudes of the terms
  std::vector<std::string> notes;  // what the user should know: columns left out, ...

  double seconds = 0;
  std::uint64_t seed = 0;
  bool cut = false;  // by the time limit or an interruption

  const Candidate& best() const { return candidates[chosen]; }
  Verdict verdict() const { return candidates.empty() ? Verdict::None : best().judgement.verdict; }
  bool is_law() const { return verdict() == Verdict::Law; }
};

// Called from time to time, from one thread at a time; share goes from 0 to 1.
struct FitProgress {
  double share = 0;
  int restarts = 0;
  std::string best;  // the best formula so far, or empty
};
struct FitWatch {
  std::function<void(const FitProgress&)> progress;
  std::stop_token stop{};  // ends early with the best so far
};

// Fails on data that cannot be fitted: a target that is missing or constant, a cell that is not a number, too few rows.
Result<Fit> fit(const Table& table, const FitOptions& options, const FitWatch& watch = {});

// Judges a given formula on the data: a Fit with this one candidate, its numbers as they are.
Result<Fit> score(const Table& table, const FitOptions& options, const Expression& formula);

// Fits the constants of a given form, c1*x/(y + K): its names that are no columns. Judged like a formula that was
// found.
Result<Fit> fit_form(const Table& table, const FitOptions& options, const Expression& form, const FitWatch& watch = {});

// The model file of the best candidate (docs/model-file.md), with what `nalm report` shows about the fit.
struct FitSource {
  std::string data;     // what the table is called
  std::string command;  // what repeats the fit
};
std::string to_json(const Fit& fit, const Table& table, const FitSource& source);

// What such a file says about its fit; the verdict is empty for a model that was not fitted by nalm fit.
struct FittedModel {
  std::string verdict{}, reason{};
  std::vector<FitProbe::Range> box{};
  FitSpread spread;
  FitGroups groups;
};
Result<FittedModel> read_fitted(std::string_view json, std::string_view source_name);

// How far 99 % intervals for the target of new rows reach either way; rows x columns, row-major. Nothing if the spread
// is not known.
std::vector<double> prediction_reach(const FitSpread& spread, const std::vector<std::string>& columns,
                                     std::span<const double> rows);

}  // namespace nalm
