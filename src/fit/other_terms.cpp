#include "fit/other_terms.hpp"

#include <algorithm>
#include <cmath>

#include "fit/description.hpp"
#include "nalm/detail/portable.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr std::size_t most_of_a_place = 4;
constexpr double nothing_new = 1e-10;  // of a square

struct Promising {
  double length;
  Form form;
};

// One sum of the form, the outer one or an inner one, with room for a further term.
class Place {
 public:
  Place(const Form& form, std::size_t sum, const Data& data)
      : data_(data), sum_(sum), is_outer_(sum == form.sums.size()) {
    for_each_number(form_ = form, [](Number& number) { number.free = true; });
    const PowerList none(data.inputs, 0.0);
    if (is_outer_) {
      form_.products.push_back({{0, true}, none, {}});
    } else {
      form_.sums[sum].terms.push_back({{0, true}, none});
    }
  }

  const Form& with_room() const { return form_; }
  std::size_t terms() const { return (is_outer_ ? form_.products.size() : form_.sums[sum_].terms.size()) - 1; }
  // Which of the free numbers is that of a term; terms() is the new one.
  std::size_t number_of(std::size_t term) const {
    if (is_outer_) return term;
    std::size_t number = form_.products.size() + term;
    for (std::size_t s = 0; s < sum_; ++s) number += form_.sums[s].terms.size();
    return number;
  }
  double value_of(std::size_t term) const {
    return is_outer_ ? form_.products[term].coefficient.value : form_.sums[sum_].terms[term].coefficient.value;
  }
  bool has(const PowerList& powers) const {
    for (std::size_t t = 0; t < terms(); ++t) {
      if (is_outer_ && !form_.products[t].sums.empty()) continue;
      if ((is_outer_ ? form_.products[t].powers : form_.sums[sum_].terms[t].powers) == powers) return true;
    }
    return false;
  }
  // Of the form as it was, with another term in place of one, or as a further one.
  Form with(const Form& form, std::size_t instead_of, const PowerList& powers, double value) const {
    Form other = form;
    for (std::size_t i = 0; i < data_.inputs; ++i) value *= portable::pow(data_.x_scale[i], -powers[i]);
    if (is_outer_) {
      if (instead_of < terms()) other.products.erase(other.products.begin() + static_cast<std::ptrdiff_t>(instead_of));
      other.products.push_back({{value, true}, powers, {}});
    } else {
      std::vector<Term>& all = other.sums[sum_].terms;
      if (instead_of < terms()) all.erase(all.begin() + static_cast<std::ptrdiff_t>(instead_of));
      all.push_back({{value, true}, powers});
    }
    return other;
  }

 private:
  Form form_;
  const Data& data_;
  std::size_t sum_;
  bool is_outer_;
};

// Columns of slopes at right angles to each other, each of length 1.
std::vector<Vector> basis_of(const Matrix& slopes, std::size_t without, std::size_t and_without) {
  std::vector<Vector> basis;
  for (std::size_t c = 0; c < slopes.columns; ++c) {
    if (c == without || c == and_without) continue;
    Vector v(slopes.column(c), slopes.column(c) + slopes.rows);
    const double before = dot(v, v);
    for (const Vector& q : basis) add(v.data(), -dot(q, v), q.data(), v.size());
    const double left = dot(v, v);
    if (!(left > nothing_new * before)) continue;
    for (double& value : v) value /= std::sqrt(left);
    basis.push_back(std::move(v));
  }
  return basis;
}

// The largest product of a form, alone, as the power of a sum of one term: sqrt(8.4*G*rho), to which a further term may
// come.
std::optional<Form> rooted(const Form& form, double power, const Data& data) {
  const auto size = [&](const Product& product) {
    double value = std::fabs(product.coefficient.value);
    for (std::size_t i = 0; i < data.inputs; ++i) value *= portable::pow(data.x_scale[i], product.powers[i]);
    return value;
  };
  const auto largest = std::max_element(form.products.begin(), form.products.end(),
                                        [&](const Product& a, const Product& b) { return size(a) < size(b); });
  if (!largest->sums.empty() || !(largest->coefficient.value > 0)) return std::nullopt;
  Term term{{portable::pow(largest->coefficient.value, 1 / power), true}, largest->powers};
  for (std::size_t i = 0; i < data.inputs; ++i) {
    if (term.powers[i] != 0 && data.negative[i]) return std::nullopt;
    term.powers[i] /= power;
    if (!is_whole(term.powers[i])) return std::nullopt;
  }
  return Form{{{{std::move(term)}}}, {{{1, false}, PowerList(data.inputs, 0.0), {{0, power}}}}};
}

class Pursuit {
 public:
  Pursuit(const Data& data, const Dictionary& dictionary, const Rows& rows)
      : data_(data), dictionary_(dictionary), rows_(rows) {}

  // A further term in a sum of the form and, if they may go, another one in place of each term there.
  void look(const Form& form, std::size_t sum, bool may_go) {
    const Place place(form, sum, data_);
    const std::optional<Linearised> linear = linearised(place.with_room(), data_, rows_);
    if (!linear) return;
    for (std::size_t t = may_go && place.terms() > 1 ? 0 : place.terms(); t <= place.terms(); ++t)
      look(form, place, *linear, t);
  }

  std::vector<Form> best(std::size_t count) {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Promising& a, const Promising& b) { return a.length < b.length; });
    std::vector<Form> result;
    for (std::size_t k = 0; k < std::min(count, found_.size()); ++k) result.push_back(std::move(found_[k].form));
    return result;
  }

 private:
  void look(const Form& form, const Place& place, const Linearised& linear, std::size_t instead_of) {
    const std::size_t n = rows_.size(), added = place.number_of(place.terms()), taken = place.number_of(instead_of);
    const double* by_sum = linear.slopes.column(added);
    std::vector<Vector> basis = basis_of(linear.slopes, added, taken);
    // What is to be explained: the errors, and what the term explained that is taken away.
    Vector left(n);
    for (std::size_t k = 0; k < n; ++k) left[k] = -linear.errors[k];
    if (instead_of < place.terms()) add(left.data(), place.value_of(instead_of), linear.slopes.column(taken), n);
    for (const Vector& q : basis) add(left.data(), -dot(q, left), q.data(), n);
    const double squares = dot(left, left);
    Vector square(n);
    for (std::size_t k = 0; k < n; ++k) {
      left[k] *= by_sum[k];
      square[k] = by_sum[k] * by_sum[k];
      for (Vector& q : basis) q[k] *= by_sum[k];
    }
    std::vector<double> unexplained(dictionary_.size(), infinity), values(dictionary_.size());
    for (std::size_t j = 0; j < dictionary_.size(); ++j) {
      const double* product = dictionary_.values(j);
      double whole = 0;
      for (std::size_t k = 0; k < n; ++k) whole += product[k] * product[k] * square[k];
      double length = whole;
      for (const Vector& q : basis) {
        const double along = dot(q.data(), product, n);
        length -= along * along;
      }
      if (!(length > nothing_new * whole) || place.has(dictionary_.powers(j))) continue;
      const double explained = dot(left.data(), product, n);
      values[j] = explained / length;
      unexplained[j] = std::max(0.0, squares - explained * values[j]);
    }
    const std::vector<std::size_t> order = ranked(unexplained);
    for (std::size_t k = 0; k < std::min(most_of_a_place, order.size()); ++k) {
      const std::size_t j = order[k];
      if (!std::isfinite(unexplained[j])) break;
      Form other = place.with(form, instead_of, dictionary_.powers(j), values[j]);
      const double length = description_length(other, unexplained[j] / static_cast<double>(n), n);
      found_.push_back({length, std::move(other)});
    }
  }

  const Data& data_;
  const Dictionary& dictionary_;
  const Rows& rows_;
  std::vector<Promising> found_;
};

}  // namespace

std::vector<Form> with_other_terms(const Form& form, const Data& data, const Dictionary& dictionary, const Rows& rows,
                                   std::size_t count) {
  Pursuit pursuit(data, dictionary, rows);
  for (std::size_t sum = 0; sum <= form.sums.size(); ++sum) pursuit.look(form, sum, true);
  for (const double power : {0.5, -1.0, -0.5})
    if (const std::optional<Form> root = rooted(form, power, data)) pursuit.look(*root, 0, false);
  return pursuit.best(count);
}

}  // namespace nalm::fitting
