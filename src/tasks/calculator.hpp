// A calculator whose operators are trained modules, after CalcNet: the order of operations is that of a calculator, and
// where it would add or divide, the module that learnt to do so is asked.
//
// Rana, Malhi and Främling, "Exploring Numerical Calculations with CalcNet", ICTAI 2019.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nalm/expression.hpp"
#include "nalm/train.hpp"

namespace nalm {

// ---- the text ------------------------------------------------------------------------------------------------------

struct CalcToken {
  enum class Kind { Number, Add, Subtract, Multiply, Divide, Power, Negate, Root };
  Kind kind = Kind::Number;
  double value = 0;          // of a number
  std::size_t position = 0;  // in the text, in bytes
};

struct CalcMistake {
  std::size_t position = 0;
  std::string sentence;
};

inline constexpr std::size_t longest_calculation = 10000;  // characters
inline constexpr std::size_t deepest_calculation = 500;    // operators and parentheses that wait for their end

// Shunting-yard, to postfix order. + and - bind least, then * and /, a sign, and ^ and √, which associate to the right;
// sqrt(...) is one operand, and √ takes in the power that follows it.
std::variant<std::vector<CalcToken>, CalcMistake> parse_calculation(std::string_view text);

// ---- operators -----------------------------------------------------------------------------------------------------

// In the order of SubsetOperation.
enum class CalcOperator { Add, Subtract, Multiply, Divide, Square, Root };
inline constexpr std::array all_calc_operators{CalcOperator::Add,    CalcOperator::Subtract, CalcOperator::Multiply,
                                               CalcOperator::Divide, CalcOperator::Square,   CalcOperator::Root};
std::string_view name_of(CalcOperator op);  // + - * / ^2 sqrt
int operand_count(CalcOperator op);
double exact_value(CalcOperator op, std::span<const double> operands);

// How an operator is learnt.
struct OperatorTraining {
  Trainer::Settings settings;
  double range = 10;        // operands from -range to range; those of a root from 0
  bool magnitudes = false;  // the module sees operands without their signs, which are put back by rule
};

// A single module in its own way; the error says why it cannot learn this.
Result<OperatorTraining> module_training(CalcOperator op, std::string_view module);
std::string_view standard_module(CalcOperator op);  // NAU, NMU, NMRU, NRU-power

// Rows of operands, of the training's kind, and their exact values. Denominators keep a distance of 1 from 0.
struct OperatorRows {
  std::vector<double> x, t;
};
OperatorRows operator_rows(CalcOperator op, const OperatorTraining& training, double range, std::size_t count,
                           std::string_view purpose, std::uint32_t seed);

struct LearntOperator {
  CalcOperator op = CalcOperator::Add;
  Model model;
  bool magnitudes = false;
  // What the weights spell. Only where each of them is a whole number in every bit: then this is the model without its
  // detours, such as x + 1 - 1, which cost digits of small numbers.
  std::optional<Expression> spelled;
  double error = 0;  // root mean squared, relative to the targets', on validation rows
  long iterations = 0;

  std::string modules() const;  // "NMU", or "NALU, NALU"
  // The operands with their signs. raw: as the model computes it, whatever its weights spell.
  double operator()(std::span<const double> operands, bool raw = false) const;
};

// Several runs, of which the one with the smallest validation error is kept, as it was when it was smallest. Ends as
// soon as a run is exact up to rounding.
Result<LearntOperator> learn_operator(CalcOperator op, const OperatorTraining& training, std::uint32_t seed,
                                      const std::stop_token& stop = {});

// ---- calculations --------------------------------------------------------------------------------------------------

struct CalcStep {
  const LearntOperator* by = nullptr;
  std::vector<double> operands;      // predictions of earlier steps, or numbers of the text
  double prediction = 0, exact = 0;  // exact: of these operands
};

struct Calculation {
  double value = 0;
  double exact = 0;
  double scale = 0;  // exact, with every term of a sum by its magnitude: what rounding errors are judged against
  std::vector<CalcStep> steps;

  double error() const;           // |value - exact|
  double relative_error() const;  // 0 for two zeros
  // Off by more than 1e-6 of the exact value, and by more than rounding explains.
  bool is_off() const;
};

// Learns an operator when it is first needed. Without a way to learn squares, they are products.
class Calculator {
 public:
  explicit Calculator(std::uint32_t seed, bool raw = false, std::stop_token stop = {})
      : seed_(seed), raw_(raw), stop_(std::move(stop)) {}
  void set(CalcOperator op, OperatorTraining training) { training_[index(op)] = std::move(training); }

  // Steps point into this calculator.
  std::variant<Calculation, CalcMistake> run(std::span<const CalcToken> postfix);
  // Null: not needed so far.
  const LearntOperator* learnt(CalcOperator op) const { return learnt_[index(op)] ? &*learnt_[index(op)] : nullptr; }

 private:
  friend class CalcRun;
  static std::size_t index(CalcOperator op) { return static_cast<std::size_t>(op); }
  bool can(CalcOperator op) const { return training_[index(op)].has_value(); }
  Result<const LearntOperator*> get(CalcOperator op);

  std::uint32_t seed_;
  bool raw_;
  std::stop_token stop_;
  std::array<std::optional<OperatorTraining>, all_calc_operators.size()> training_;
  std::array<std::optional<LearntOperator>, all_calc_operators.size()> learnt_;
};

}  // namespace nalm
