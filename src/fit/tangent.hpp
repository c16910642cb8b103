// A formula near its least squares, where it is linear in its constants: what the rows leave when the constants move,
// and what else could be added to it.
//
// Functions are vectors of their values on rows and, behind these, on points of a box twice as wide as the data. They
// are compared on the rows alone, so that what is taken away there is taken away on the points too: a function that the
// rows cannot tell from the formula, but that differs from it on the points, is seen at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fit/data.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

// Where formulas are judged: rows of the table, and points around them.
struct Places {
  std::vector<const double*> x;   // the rows, then the points
  std::vector<std::size_t> row;   // which row of the table each is
  std::vector<double> points;     // what x points at beyond the rows
  std::vector<double> low, high;  // of each column in the data

  std::size_t rows() const { return row.size(); }
  std::size_t size() const { return x.size(); }
};
// Rows evenly from those of the table that differ, at most so many. below_zero: whether columns without negative values
// have negative points.
Places places_of(const Data& data, std::size_t most_rows, std::size_t points, bool below_zero);

// The formula and its constants at these places.
class Tangent {
 public:
  Tangent(const Candidate& candidate, const Data& data, const Places& places);

  bool defined() const { return defined_; }                  // finite on every row
  std::size_t constants() const { return basis_.size(); }    // directions in which the formula can move
  const numeric::Vector& values() const { return values_; }  // of the formula; not finite at some points perhaps
  const numeric::Vector& errors() const {
    return errors_;
  }                                            // target - formula, weighted, with the constants at their best
  double squares() const { return squares_; }  // of these
  double leverage(std::size_t row) const;      // how much of its own error a row takes away
  const std::vector<numeric::Vector>& derivatives() const { return derivatives_; }
  const std::vector<numeric::Vector>& basis() const { return basis_; }

  // A function without what the constants can do; true if something is left. Weighted on the rows.
  bool take_away_from(numeric::Vector& function) const;

  // Errors on some rows if the constants are fitted to the others; weighted.
  std::vector<double> errors_without(const std::vector<std::size_t>& left_out) const;

 private:
  const Places& places_;
  bool defined_ = true;
  numeric::Vector values_, errors_, weight_;
  std::vector<numeric::Vector> derivatives_, basis_;
  double squares_ = 0;
};

}  // namespace nalm::fitting
