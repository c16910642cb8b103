// The formulas on which `nalm fit` is judged (data/formulas.csv, data/feynman.csv), and tables made from them.
//
// A third of the own formulas is a hold-out list, `unseen`: whoever works on the search does not look at how it does on
// them. Chance chose it: see chosen_part().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/expression.hpp"
#include "nalm/fit.hpp"
#include "nalm/result.hpp"
#include "nalm/table.hpp"

namespace nalm {

struct FormulaColumn {
  std::string name;
  double low = 0, high = 0;  // uniform in [low, high)
  bool distractor = false;   // not in the formula

  bool one_sign() const { return low >= 0 || high <= 0; }
};

struct FormulaCase {
  std::string name;
  std::string part;    // of its set: "tune" or "unseen", "arithmetic" or "functions"
  std::string family;  // what dominates it: product, sum, quotient, root, polynomial, comparison, function
  Powers powers = Powers::Half;
  std::string target;
  std::string text;  // of the formula
  Expression formula;
  std::vector<FormulaColumn> columns;  // by name, so that their order does not tell distractors from the others
  std::vector<Expression> conditions;  // what a row must make positive

  std::vector<std::string> column_names() const;
};

// The built-in sets. They fail only if their file was edited badly: the message says where.
Result<std::vector<FormulaCase>> formula_set();
Result<std::vector<FormulaCase>> feynman_set();

inline constexpr std::string_view formula_parts[] = {"tune", "unseen"}, feynman_parts[] = {"arithmetic", "functions"};

// Reads a set with these parts; messages begin with `source_name` and count lines from 1.
Result<std::vector<FormulaCase>> read_formula_set(std::string_view text, std::string_view source_name,
                                                  std::span<const std::string_view> parts = formula_parts);

// The part that chance gives to a formula of this name: unseen with probability 1/3, from seed 2026 and the name
// alone, so that a new formula changes nothing for the others. The file must agree.
std::string_view chosen_part(std::string_view name);

// A table of the inputs and, last, the target. Every column has its own stream of (seed, formula, column); rows where
// the formula is not finite or a condition fails are drawn again in all columns. So a longer table begins with the
// shorter one, up to its noise: that is Gaussian, with `noise` times the standard deviation of the target in this
// table, or times its root mean square, as benchmarks of other people have it.
enum class NoiseUnit { Deviation, RootMeanSquare };
Result<Table> make_table(const FormulaCase& formula, std::size_t rows, double noise, std::uint64_t seed,
                         NoiseUnit unit = NoiseUnit::Deviation);

// The stream of a formula's column, or of whatever else needs one of its own.
std::uint64_t stream_seed(std::uint64_t seed, std::string_view formula, std::string_view column);

}  // namespace nalm
