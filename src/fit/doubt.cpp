#include "fit/doubt.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nalm/detail/portable.hpp"
#include "numeric/student.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr double pi = 3.14159265358979323846;
// Near a pole everything is uncertain: the points where a doubt is largest do not count, and how much a formula varies
// is told by half of the points, or by the target. If all is normal, so many deviations lie between the quarters.
constexpr double counted = 0.95, quartiles_apart = 1.349;
// Values so many deviations away are those of a pole: there a difference counts in proportion to them.
constexpr double far_away = 5;

// Which points beyond the rows count, and how much the formula varies there.
struct Beyond {
  std::vector<std::size_t> points;
  Vector unit;  // at each of them, of a difference: 1, or more where a pole is, or the value of the formula if errors
                // are in proportion to it
  double variance = 0;
  double finite = 0;
};

Beyond beyond(const Vector& values, std::size_t rows, const Data& data) {
  const bool in_proportion = data.log_deviation > 0;
  const double deviation = in_proportion ? data.log_deviation : data.y_deviation;
  Beyond result;
  std::vector<double> sorted;
  for (std::size_t k = rows; k < values.size(); ++k) {
    if (!std::isfinite(values[k]) || (in_proportion && !(values[k] > 0))) continue;
    result.points.push_back(k);
    result.unit.push_back(in_proportion ? values[k] : 1);
    sorted.push_back(in_proportion ? portable::log(values[k]) : values[k]);
  }
  result.finite = static_cast<double>(sorted.size()) / static_cast<double>(values.size() - rows);
  if (sorted.empty()) return result;
  std::sort(sorted.begin(), sorted.end());
  const double spread = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
  result.variance = std::max(spread * spread / (quartiles_apart * quartiles_apart), deviation * deviation);
  if (in_proportion || !(result.variance > 0)) return result;
  const double middle = sorted[sorted.size() / 2], far = far_away * std::sqrt(result.variance);
  for (std::size_t p = 0; p < result.points.size(); ++p)
    result.unit[p] = std::max(1.0, std::fabs(values[result.points[p]] - middle) / far);
  return result;
}

// The mean square of a function on the points that count.
double mean_square(const Vector& function, const Beyond& beyond) {
  std::vector<double> squares;
  for (std::size_t p = 0; p < beyond.points.size(); ++p) {
    const double value = function[beyond.points[p]] / beyond.unit[p];
    if (std::isfinite(value)) squares.push_back(value * value);
  }
  std::sort(squares.begin(), squares.end());
  const auto count = static_cast<std::size_t>(std::ceil(counted * static_cast<double>(squares.size())));
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) sum += squares[k];
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

class Doubting {
 public:
  Doubting(const Data& data, const Places& places, const Tangent& tangent, double rounding)
      : data_(data), places_(places), tangent_(tangent), beyond_(beyond(tangent.values(), places.rows(), data)) {
    freedom_ = static_cast<double>(places.rows()) - static_cast<double>(tangent.constants()) - 1;
    variance_ = std::max(tangent.squares() / std::max(1.0, freedom_), rounding * rounding);
    exact_ = tangent.squares() <= rounding * rounding * static_cast<double>(places.rows());
    result_.finite = beyond_.finite;
  }

  Doubts run(const std::vector<std::size_t>& used) {
    if (!(freedom_ >= 1)) return {.chance = 1, .along = {}, .outside = infinity, .open = {}, .finite = beyond_.finite};
    for (const Vector& q : tangent_.basis()) own_ += variance_ * mean_square(q, beyond_);
    for (std::size_t i = 0; i < data_.inputs; ++i) {
      const bool in_formula = std::find(used.begin(), used.end(), i) != used.end();
      about_column(i, in_formula);
    }
    for (std::size_t a = 0; a < used.size(); ++a) {
      for (std::size_t b = a + 1; b < used.size(); ++b) about_pair(used[a], used[b]);
    }
    about_prediction();
    const double tail = strongest_ > 0 && !exact_ ? 2 * student_tail(strongest_, freedom_) : 1;
    result_.chance = std::min(1.0, tail * static_cast<double>(tried_));
    result_.outside = std::sqrt((own_ + most_open_) / beyond_.variance);
    if (!(beyond_.variance > 0)) result_.outside = infinity;
    return result_;
  }

 private:
  // The column scaled to -1 ... 1 in the data, by its logarithm if that spreads the rows more evenly.
  Vector scaled(std::size_t i) const {
    const auto between = [&](auto scale) {
      const double low = scale(places_.low[i]), high = scale(places_.high[i]);
      Vector u;
      for (const double* x : places_.x) u.push_back((scale(x[i]) - low) / (high - low) * 2 - 1);
      return u;
    };
    Vector plain = between([](double x) { return x; });
    if (!(places_.low[i] > 0)) return plain;
    Vector logarithm = between([](double x) { return x > 0 ? portable::log(x) : no_value; });
    return std::fabs(quantile(logarithm, 0.5)) < std::fabs(quantile(plain, 0.5)) - 0.2 ? logarithm : plain;
  }
  double quantile(const Vector& u, double share) const {
    std::vector<double> sorted(u.begin(), u.begin() + static_cast<std::ptrdiff_t>(places_.rows()));
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }

  template <class Function>
  Vector of(const Vector& u, Function function) const {
    Vector result(u.size());
    for (std::size_t k = 0; k < u.size(); ++k) result[k] = function(u[k]);
    return result;
  }
  static Vector product(const Vector& a, const Vector& b) {
    Vector result(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) result[k] = a[k] * b[k];
    return result;
  }

  Vector quotient(const Vector& a, std::size_t i) const {
    Vector result(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) result[k] = a[k] / places_.x[k][i];
    return result;
  }

  // outside: whether it is doubted beyond the data, too.
  void about(Vector function, const std::string& along, bool outside) {
    if (!all_finite(std::span(function).first(places_.rows())) || !tangent_.take_away_from(function)) return;
    ++tried_;
    const std::size_t rows = places_.rows();
    const Vector& errors = tangent_.errors();
    double length = 0, much = 0, robust = 0;
    for (std::size_t k = 0; k < rows; ++k) {
      length += function[k] * function[k];
      much += function[k] * errors[k];
    }
    much /= length;
    // Errors that are larger here than there are no pattern: the variance as it is where the function is large.
    for (std::size_t k = 0; k < rows; ++k) {
      const double error = errors[k] - much * function[k];
      robust += function[k] * function[k] * error * error;
    }
    const double left = std::max(tangent_.squares() - much * much * length, 0.0) / freedom_;
    const double plain = std::max(left, variance_ * 1e-6) / length;
    const double deviation = std::sqrt(std::max(plain, robust / (length * length)));
    if (const double t = std::fabs(much) / deviation; t > strongest_) strongest_ = t, result_.along = along;
    if (!outside) return;
    const double open = (much * much + variance_ / length) * mean_square(function, beyond_);
    if (open > most_open_) most_open_ = open, result_.open = along;
  }

  void about_column(std::size_t i, bool in_formula) {
    const std::string& name = data_.columns[i];
    const Vector u = scaled(i);
    const Vector& f = tangent_.values();
    const auto both = [&](const Vector& g, bool outside) {
      about(g, name, outside && in_formula);
      about(product(f, g), name, outside && in_formula);
    };
    const Vector square = product(u, u);
    both(u, true);
    both(square, true);
    both(product(square, u), true);
    if (!in_formula) return;
    both(product(square, square), false);
    for (const double times : {1.0, 2.0, 4.0}) {
      both(of(u, [&](double v) { return portable::sin(times * pi / 2 * v); }), false);
      both(of(u, [&](double v) { return portable::cos(times * pi / 2 * v); }), false);
    }
    both(of(u, [](double v) { return portable::exp(v); }), false);
    both(of(u, [](double v) { return portable::exp(-v); }), false);
    for (const double share : {0.1, 0.25, 0.5, 0.75, 0.9}) {
      const double q = quantile(u, share);
      both(of(u, [&](double v) { return std::max(0.0, v - q); }), false);
      both(of(u, [&](double v) { return v > q ? 1.0 : 0.0; }), false);
    }
    if (places_.low[i] > 0) {
      Vector logarithm;
      for (const double* x : places_.x) logarithm.push_back(x[i] > 0 ? portable::log(x[i]) : no_value);
      both(logarithm, true);
    }
    for (const Vector& derivative : tangent_.derivatives()) {
      about(product(derivative, u), name, true);
      about(product(derivative, square), name, true);
      if (places_.low[i] > 0) about(quotient(derivative, i), name, true);
    }
  }

  void about_pair(std::size_t a, std::size_t b) {
    const std::string names = fmt::format("{} and {}", data_.columns[a], data_.columns[b]);
    const Vector u = scaled(a), v = scaled(b), both = product(u, v);
    about(both, names, true);
    about(product(tangent_.values(), both), names, true);
    about(product(both, u), names, false);
    about(product(both, v), names, false);
    for (const double side : {1.0, -1.0}) {
      Vector wave(u.size()), edge(u.size());
      for (std::size_t k = 0; k < u.size(); ++k) {
        wave[k] = portable::sin(pi / 2 * (u[k] + side * v[k]));
        edge[k] = std::fabs(u[k] + side * v[k]);
      }
      about(wave, names, false);
      about(edge, names, false);
    }
  }

  void about_prediction() {
    const Vector& f = tangent_.values();
    const auto [low, high] = std::minmax_element(f.begin(), f.begin() + static_cast<std::ptrdiff_t>(places_.rows()));
    const double middle = (*low + *high) / 2, half = (*high - *low) / 2;
    if (!(half > 0)) return;
    const Vector u = of(f, [&](double v) { return (v - middle) / half; });
    const char* name = "the prediction";
    about(product(u, u), name, false);
    about(product(product(u, u), u), name, false);
    about(of(u, [](double v) { return portable::sin(pi * v); }), name, false);
    about(of(u, [](double v) { return portable::cos(pi * v); }), name, false);
    for (const double share : {0.1, 0.25, 0.5, 0.75, 0.9}) {
      const double q = quantile(u, share);
      about(of(u, [&](double v) { return std::max(0.0, v - q); }), name, false);
    }
  }

  const Data& data_;
  const Places& places_;
  const Tangent& tangent_;
  const Beyond beyond_;
  Doubts result_;
  double freedom_ = 0, variance_ = 0, own_ = 0, most_open_ = 0, strongest_ = 0;
  bool exact_ = false;
  std::size_t tried_ = 0;
};

}  // namespace

Doubts doubts_about(const Candidate& candidate, const Data& data, const Places& places, const Tangent& tangent,
                    double rounding) {
  std::vector<std::size_t> used;
  for (const std::string& name : variables(candidate.formula)) used.push_back(data.position(name));
  return Doubting(data, places, tangent, rounding).run(used);
}

double difference_outside(const Tangent& tangent, const Vector& other, const Places& places, const Data& data) {
  const Beyond here = beyond(tangent.values(), places.rows(), data);
  Vector difference = other;
  for (std::size_t k = 0; k < difference.size(); ++k) difference[k] -= tangent.values()[k];
  return std::sqrt(mean_square(difference, here) / here.variance);
}

}  // namespace nalm::fitting
