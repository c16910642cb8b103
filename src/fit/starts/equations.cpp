#include "fit/starts/equations.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/threads.hpp"
#include "fit/starts/products.hpp"
#include "nalm/detail/portable.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr std::size_t rows_of_an_equation = 128, entries = 2400, most_beside = 200, most_terms = 5;
constexpr double rounding = 1e-20;  // the share of y^4 that may be left

// The number of a product of scaled columns, for the columns as they are.
double unscaled(double factor, const PowerList& powers, const Data& data) {
  for (std::size_t i = 0; i < data.inputs; ++i) factor *= portable::pow(data.x_scale[i], -powers[i]);
  return factor;
}

class Equations {
 public:
  explicit Equations(const Data& data)
      : data_(data), rows_(some(data)), dictionary_(data, rows_, Powers::Integer, entries) {}

  std::size_t count() const { return std::min(most_beside, dictionary_.size()); }

  // With entry b of the dictionary beside the root.
  std::optional<Form> root(std::size_t b) const {
    const Vector& y = dictionary_.target();
    Goal goal{Vector(y.size()), dictionary_.weight(), {Vector(y.size())}};
    for (std::size_t k = 0; k < y.size(); ++k) {
      goal.target[k] = y[k] * y[k];
      goal.beside[0][k] = dictionary_.values(b)[k] * y[k] * goal.weights[k];
    }
    Xoshiro random(1);
    const int terms = static_cast<int>(std::min(most_terms, dictionary_.size()));
    const Picked picked = ProductPicker(dictionary_, goal).pick(terms, false, true, random);
    if (!(picked.unexplained < rounding)) return std::nullopt;
    return form_of(b, goal, picked);
  }

 private:
  static std::vector<std::size_t> some(const Data& data) {
    std::vector<std::size_t> rows;
    const std::size_t count = std::min(rows_of_an_equation, data.train.size());
    for (std::size_t k = 0; k < count; ++k) rows.push_back(data.train[k * data.train.size() / count]);
    return rows;
  }

  std::optional<Form> form_of(std::size_t b, const Goal& goal, const Picked& picked) const {
    const std::size_t n = rows_.size();
    Matrix A(n, picked.plain.size() + 2);
    Vector squares(n);
    for (std::size_t k = 0; k < n; ++k) {
      squares[k] = goal.target[k] * goal.weights[k];
      A(k, 0) = goal.beside[0][k];
      A(k, 1) = goal.weights[k];
      for (std::size_t t = 0; t < picked.plain.size(); ++t)
        A(k, t + 2) = dictionary_.values(picked.plain[t])[k] * goal.weights[k];
    }
    const Vector factors = least_squares(A, squares);
    if (!all_finite(factors)) return std::nullopt;
    const double half = factors[0] / 2, size = data_.y_scale;
    // Which of the two roots: all rows have the same.
    const auto above = [&](std::size_t k) { return dictionary_.target()[k] > half * dictionary_.values(b)[k]; };
    std::size_t plus = 0;
    for (std::size_t k = 0; k < n; ++k) plus += above(k) ? 1 : 0;
    if (plus != 0 && plus != n) return std::nullopt;
    const PowerList& beside = dictionary_.powers(b);
    PowerList square = beside;
    for (double& power : square) power *= 2;
    const PowerList none(data_.inputs, 0.0);
    InnerSum sum{{{{unscaled(size * size * half * half, square, data_), true}, square},
                  {{size * size * factors[1], true}, none}}};
    for (std::size_t t = 0; t < picked.plain.size(); ++t) {
      const PowerList& powers = dictionary_.powers(picked.plain[t]);
      const double factor = unscaled(size * size * factors[t + 2], powers, data_);
      if (powers == square) {
        sum.terms[0].coefficient.value += factor;
      } else {
        sum.terms.push_back({{factor, true}, powers});
      }
    }
    // What cancels does so to rounding.
    std::erase_if(sum.terms, [&](const Term& term) { return std::fabs(sized(term)) < 1e-9 * size * size; });
    return Form{{std::move(sum)},
                {{{unscaled(size * half, beside, data_), true}, beside, {}},
                 {{plus > 0 ? 1.0 : -1.0, true}, none, {{0, 0.5}}}}};
  }

  double sized(const Term& term) const {
    double value = term.coefficient.value;
    for (std::size_t i = 0; i < data_.inputs; ++i) value *= portable::pow(data_.x_scale[i], term.powers[i]);
    return value;
  }

  const Data& data_;
  const std::vector<std::size_t> rows_;
  const Dictionary dictionary_;
};

}  // namespace

std::vector<Form> roots_of_equations(const Data& data, Powers allowed, int threads, const std::function<bool()>& stop) {
  std::vector<Form> result;
  if (allowed == Powers::Integer) return result;  // a root is no whole power
  const Equations equations(data);
  std::vector<std::optional<Form>> found(equations.count());
  parallel_for(static_cast<int>(found.size()), threads, [&](int b) {
    if (!stop || !stop()) found[static_cast<std::size_t>(b)] = equations.root(static_cast<std::size_t>(b));
  });
  for (std::optional<Form>& form : found)
    if (form) result.push_back(std::move(*form));
  return result;
}

}  // namespace nalm::fitting
