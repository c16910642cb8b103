// The numbers of a formula by least squares, with error bars.
#pragma once

#include <optional>
#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

// Rows to fit to.
struct Rows {
  std::vector<const double*> x;
  std::vector<double> y;
  std::vector<double> weight;  // of the errors; empty: all 1

  double weight_of(std::size_t k) const { return weight.empty() ? 1 : weight[k]; }
  std::size_t size() const { return y.size(); }
};
Rows rows_of(const Data& data, const std::vector<std::size_t>& indices, std::size_t at_most);

struct Refit {
  double mse = 0;                  // in units of the target's size
  std::vector<double> deviations;  // standard error of each free number
};

// The same for a formula whose numbers are variables, slot_name(0) and on; values holds where they start, and end.
struct Solved {
  double mse = 0;                // in units of the target's size
  numeric::Matrix covariance{};  // of the values
};
std::optional<Solved> solve(const Expression& formula, std::vector<double>& values, const Data& data, const Rows& rows,
                            int steps);
// Errors and slopes of such a formula at some values, in units of the target's size.
double mean_squared_error(const Expression& formula, const std::vector<double>& values, const Data& data,
                          const Rows& rows);
std::optional<numeric::Matrix> covariance_at(const Expression& formula, const std::vector<double>& values,
                                             const Data& data, const Rows& rows);

// The errors (formula - target) of a form on rows, and their slopes by its free numbers, both weighted and in units of
// the target's size. Nothing where they are not finite.
struct Linearised {
  numeric::Vector errors;
  numeric::Matrix slopes;
};
std::optional<Linearised> linearised(const Form& form, const Data& data, const Rows& rows);

// Moves the free numbers of the form to the least squares. Nothing if that does not come to a finite error.
std::optional<Refit> refit(Form& form, const Data& data, const Rows& rows, int steps);

// The mean squared error of a formula; infinite where it is not defined. Of a form it is in units of the target's size.
double mean_squared_error(const Expression& formula, const Data& data, const Rows& rows);
double mean_squared_error(const Form& form, const Data& data, const Rows& rows);

// How many standard errors a 99 % interval reaches either way, if so many numbers were fitted to so many rows.
double interval_reach(std::size_t rows, std::size_t fitted);

}  // namespace nalm::fitting
