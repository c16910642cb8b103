#include "fit/starts/factors.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/threads.hpp"
#include "fit/starts/products.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t entries_beside_factors = 400;
constexpr double similar_scales = 300;  // columns that are added to each other have the same unit

// Powers of columns that are nearly whole in a fit of one product to the target: those factors are there.
PowerList certain_powers(const Data& data, const std::vector<std::size_t>& rows) {
  const numeric::Vector found = powers_of_one_product(data, rows);
  PowerList powers(data.inputs, 0.0);
  for (std::size_t i = 0; i < data.inputs; ++i) {
    const double whole = std::round(found[i]);
    if (std::fabs(found[i] - whole) < 0.15 && std::fabs(whole) <= 6) powers[i] = whole;
  }
  return powers;
}

// A simple sum on some rows, as a share of its largest value.
std::vector<double> values_of(const InnerSum& sum, const Data& data, std::span<const std::size_t> rows,
                              double& largest) {
  std::vector<double> result;
  largest = 0;
  for (const std::size_t r : rows) {
    double total = 0;
    for (const Term& term : sum.terms) {
      double product = term.coefficient.value;
      for (std::size_t i = 0; i < term.powers.size(); ++i) {
        for (int p = 0; p < term.powers[i]; ++p) product *= data.row(r)[i];
      }
      total += product;
    }
    largest = std::max(largest, std::fabs(total));
    result.push_back(total);
  }
  for (double& value : result) value /= largest;
  return result;
}

// x_i + s*x_j, their squares, three columns, and columns with 1; in the units of the data. Powers are 0, 1 or 2.
std::vector<InnerSum> simple_sums(const Data& data) {
  std::vector<InnerSum> result;
  const std::size_t I = data.inputs;
  const auto term = [&](double factor, std::size_t i, double power) {
    return Term{{factor, true}, power_of_column(I, i, power)};
  };
  const auto alike = [&](double a, double b) { return a / b < similar_scales && a / b > 1 / similar_scales; };
  const std::vector<double>& scale = data.x_scale;
  for (std::size_t i = 0; i < I; ++i) {
    for (const double power : {1.0, 2.0}) {
      for (const double sign : {1.0, -1.0}) {
        for (std::size_t j = i + 1; j < I; ++j) {
          if (alike(scale[i], scale[j])) result.push_back({{term(1, i, power), term(sign, j, power)}});
        }
        if (alike(scale[i], 1)) result.push_back({{term(1, i, power), term(sign, i, 0)}});
      }
    }
    for (std::size_t j = i + 1; j < I; ++j) {
      for (std::size_t k = j + 1; k < I && I <= 10; ++k) {
        if (alike(scale[i], scale[j]) && alike(scale[j], scale[k])) {
          result.push_back({{term(1, i, 1), term(1, j, 1), term(1, k, 1)}});
        }
      }
    }
  }
  return result;
}

}  // namespace

FactorPicker::FactorPicker(const Data& data, const std::vector<std::size_t>& rows, Powers allowed, std::size_t at_most)
    : dictionary_(data, {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), at_most))},
                  allowed, entries_beside_factors) {
  const std::span<const std::size_t> used(rows.data(), dictionary_.rows());
  std::vector<PowerList> products = {PowerList(data.inputs, 0.0)};
  if (const PowerList certain = certain_powers(data, rows); !is_constant(certain)) products.push_back(certain);
  std::vector<std::vector<double>> values_of_products;
  for (const PowerList& product : products) {
    std::vector<double>& values = values_of_products.emplace_back(used.size(), 1.0);
    for (std::size_t k = 0; k < used.size(); ++k) {
      for (std::size_t i = 0; i < data.inputs; ++i) {
        if (product[i] != 0) values[k] *= portable::pow(data.row(used[k])[i] / data.x_scale[i], product[i]);
      }
    }
  }
  std::vector<double> powers = {1, -1};
  if (allowed != Powers::Integer) powers.insert(powers.end(), {0.5, -0.5});
  // Nothing if the factor has no value on a row, or is 0 there.
  const auto add = [&](const PowerList& product, const InnerSum& sum, double power, std::vector<double> values) {
    if (std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v != 0; }))
      factors_.push_back({product, sum, power, std::move(values)});
  };
  const PowerList none(data.inputs, 0.0);
  add(products.back(), {{{{1, true}, none}}}, 1, values_of_products.back());
  for (InnerSum& sum : simple_sums(data)) {
    double largest = 0;
    const std::vector<double> values = values_of(sum, data, used, largest);
    for (Term& term : sum.terms) {
      term.coefficient.value /= largest;
      for (std::size_t i = 0; i < data.inputs; ++i) {
        for (int p = 0; p < term.powers[i]; ++p) term.coefficient.value *= data.x_scale[i];
      }
    }
    for (const double power : powers) {
      std::vector<double> raised = values;
      for (double& value : raised) value = power == 1 ? value : power == -1 ? 1 / value : portable::pow(value, power);
      for (std::size_t p = 0; p < products.size(); ++p) {
        std::vector<double> both = raised;
        for (std::size_t k = 0; k < both.size(); ++k) both[k] *= values_of_products[p][k];
        add(products[p], sum, power, std::move(both));
      }
    }
  }
}

void FactorPicker::rank_factors(int count, double target_power, int threads) {
  // Of many products only the factor that needs no search is tried: the product that is certain.
  const std::size_t tried = count > 3 ? std::min<std::size_t>(1, factors_.size()) : factors_.size();
  std::vector<double> left(tried, 1.0);
  parallel_for(static_cast<int>(tried), threads, [&](int f) {
    const std::vector<double>& values = factors_[static_cast<std::size_t>(f)].values;
    for (std::size_t k = 0; k < dictionary_.rows() && target_power != 1; ++k) {
      if (!(dictionary_.target()[k] / values[k] > 0)) return;  // no power of it is a sum
    }
    Xoshiro random(1);
    const ProductPicker picker(dictionary_, goal_for(dictionary_, target_power, values));
    left[static_cast<std::size_t>(f)] = picker.pick(count, false, count > 3, random).unexplained;
  });
  ranking_[{count, target_power}] = ranked(left);
}

FactorPicker::Factored FactorPicker::pick(int count, double target_power, bool chance, Xoshiro& random) const {
  const std::vector<std::size_t>& ranking = ranking_.at({count, target_power});
  if (ranking.empty()) return {{}, nullptr};
  const Factor& factor = factors_[draw(ranking, chance, random)];
  const bool other = chance && random.unit() < 0.5;
  const bool whole = count > 3 || (chance && random.unit() < 0.5);
  const ProductPicker picker(dictionary_, goal_for(dictionary_, target_power, factor.values));
  return {picker.pick(count, other, whole, random), &factor};
}

}  // namespace nalm::fitting
