#include "fit/starts/starts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

using RungKind = Rung::Kind;

constexpr std::size_t entries_of_the_dictionary = 4000;

double random_sign(Xoshiro& random) { return random.unit() < 0.5 ? -1 : 1; }

std::vector<std::size_t> spread(const std::vector<std::size_t>& rows, std::size_t count) {
  std::vector<std::size_t> result;
  count = std::min(count, rows.size());
  for (std::size_t k = 0; k < count; ++k) result.push_back(rows[k * rows.size() / count]);
  return result;
}

}  // namespace

Starts::Starts(const Data& data, const FitOptions& options, const SearchRows& rows)
    : data_(data),
      options_(options),
      rows_(spread(data.train, rows.dictionary)),
      dictionary_(data, rows_, options.powers, entries_of_the_dictionary),
      ratios_(dictionary_, rows.picking),
      factors_(data, rows_, options.powers, rows.picking) {}

void Starts::prepare(const Rung& rung) {
  if (rung.kind == RungKind::Sum || rung.kind == RungKind::Power) {
    const std::vector<double> ones(dictionary_.rows(), 1.0);
    if (!products_.contains(rung.power))
      products_.try_emplace(rung.power, dictionary_, goal_for(dictionary_, rung.power, ones));
  }
  if (rung.kind == RungKind::Factor) factors_.rank_factors(rung.terms, rung.power, options_.threads);
  if (rung.kind != RungKind::Ratio || ratios_ranked_) return;
  ratios_.rank_denominators(options_.threads);
  ratios_ranked_ = true;
}

Run Starts::start(const Rung& rung, int restart, const std::vector<std::size_t>& rows, Xoshiro& random) const {
  if (rung.kind == RungKind::Product) return one_product(rows, restart > 0, random);
  if (rung.kind == RungKind::Nested) return nested(rung, random);
  if (rung.kind == RungKind::Factor) return factored(rung, restart > 0, random);
  return picked(rung, restart > 0, random);
}

// NRU-power:K, Linear:m and, if there are outer powers, NRU-power:1. factors[sum][product].
Run Starts::products_run(const std::vector<PowerList>& products, const std::vector<std::vector<double>>& factors,
                         const std::vector<double>& constants, const std::vector<double>& outer,
                         Xoshiro& random) const {
  // Powers may move of the columns that a start uses, and of some others.
  std::vector<bool> movable(data_.inputs, data_.inputs <= 4);
  for (const PowerList& powers : products) {
    for (std::size_t i = 0; i < data_.inputs; ++i) movable[i] = movable[i] || powers[i] != 0;
  }
  movable[random.below(data_.inputs)] = true;
  Run run;
  for (std::size_t i = 0; i < data_.inputs; ++i) {
    for (const PowerList& powers : products) run.add(powers[i], true, movable[i]);
  }
  for (std::size_t k = 0; k < products.size(); ++k) {
    for (const std::vector<double>& sum : factors) run.add(sum[k], false, sum[k] != 0);
  }
  for (const double constant : constants) run.add(constant, false, constant != 0);
  for (const double power : outer) run.add(power, true, false);
  return run;
}

// A product of powers by least squares on logarithms.
Run Starts::one_product(const std::vector<std::size_t>& rows, bool chance, Xoshiro& random) const {
  const numeric::Vector found = powers_of_one_product(data_, rows);
  PowerList powers(data_.inputs);
  for (std::size_t i = 0; i < data_.inputs; ++i) powers[i] = found[i] + (chance ? 0.3 * random.gaussian() : 0);
  // The sign of the factor: that which most of the target has.
  double sign = 0;
  for (const std::size_t r : rows) {
    double product = data_.y[r];
    for (std::size_t i = 0; i < data_.inputs; ++i) {
      if (data_.row(r)[i] < 0 && portable::cos(std::numbers::pi * powers[i]) < 0) product = -product;
    }
    sign += product;
  }
  const double factor = portable::exp(std::clamp(found.back(), -50.0, 50.0));
  Run run = products_run({powers}, {{sign < 0 ? -factor : factor}}, {0}, {}, random);
  for (std::size_t k = 0; k < data_.inputs; ++k) run.free[k] = 1;
  return run;
}

Run Starts::picked(const Rung& rung, bool chance, Xoshiro& random) const {
  const bool ratio = rung.kind == RungKind::Ratio;
  const Picked picked = ratio
                            ? ratios_.pick(rung.terms, rung.below, chance, random)
                            : products_.at(rung.power).pick(rung.terms, chance, chance && random.unit() < 0.5, random);
  std::vector<PowerList> products;
  for (const std::size_t k : picked.plain) products.push_back(dictionary_.powers(k));
  for (const std::size_t k : picked.times_target) products.push_back(dictionary_.powers(k));
  if (!ratio) {
    std::vector<double> outer;
    if (rung.kind == RungKind::Power) outer.push_back(1 / rung.power);
    return products_run(products, {picked.plain_factors}, {picked.constant}, outer, random);
  }
  std::vector<double> above = picked.plain_factors, below(picked.plain.size(), 0.0);
  above.resize(products.size(), 0.0);
  below.insert(below.end(), picked.target_factors.begin(), picked.target_factors.end());
  Run run = products_run(products, {above, below}, {picked.constant, 1}, {1, -1}, random);
  run.free[run.free.size() - 3] = 0;  // the 1 in the denominator
  return run;
}

// The sum, the product and the simple sum, each with room of its own among the products of the first layer.
Run Starts::factored(const Rung& rung, bool chance, Xoshiro& random) const {
  const auto [picked, factor] = factors_.pick(rung.terms, rung.power, chance, random);
  const PowerList none(data_.inputs, 0.0);
  std::vector<PowerList> products;
  for (const std::size_t k : picked.plain) products.push_back(factors_.dictionary().powers(k));
  products.resize(static_cast<std::size_t>(rung.terms), none);
  const std::size_t room = products.size() + 4;
  std::vector<std::vector<double>> sums(3, std::vector<double>(room, 0.0));
  std::vector<double> constants = {picked.constant, 0, factor ? 0.0 : 1.0};
  std::copy(picked.plain_factors.begin(), picked.plain_factors.end(), sums[0].begin());
  const auto add = [&](std::size_t sum, double number, const PowerList& powers) {
    if (is_constant(powers)) {
      constants[sum] += number;
    } else {
      sums[sum][products.size()] = number;
      products.push_back(powers);
    }
  };
  add(1, 1, factor ? factor->product : none);
  products.resize(static_cast<std::size_t>(rung.terms) + 1, none);
  if (factor) {
    for (const Term& term : factor->sum.terms) add(2, term.coefficient.value, term.powers);
  }
  products.resize(room, none);
  return products_run(products, sums, constants, {1 / rung.power, 1, factor ? factor->power : 1}, random);
}

Run Starts::nested(const Rung& rung, Xoshiro& random) const {
  Run run;
  const std::size_t J = static_cast<std::size_t>(rung.inner), K = static_cast<std::size_t>(rung.terms);
  std::vector<std::vector<double>> weights(J, std::vector<double>(data_.inputs, 0.0));
  for (std::vector<double>& sum : weights) {
    // Most often a plain sum or difference of two columns, in the units of the data.
    if (data_.inputs > 1 && random.unit() < 0.7) {
      const std::size_t a = random.below(data_.inputs);
      const std::size_t b = (a + 1 + random.below(data_.inputs - 1)) % data_.inputs;
      const double scale = std::max(data_.x_scale[a], data_.x_scale[b]);
      sum[a] = data_.x_scale[a] / scale;
      sum[b] = (random.unit() < 0.6 ? -1 : 1) * data_.x_scale[b] / scale;
      continue;
    }
    const std::size_t columns = 1 + random.below(std::min<std::size_t>(3, data_.inputs));
    for (std::size_t k = 0; k < columns; ++k) {
      sum[random.below(data_.inputs)] = random_sign(random) * random.between(0.5, 1.5);
    }
  }
  for (std::size_t i = 0; i < data_.inputs; ++i) {
    for (std::size_t j = 0; j < J; ++j) run.add(weights[j][i], false, weights[j][i] != 0 || data_.inputs <= 6);
  }
  for (std::size_t j = 0; j < J; ++j) {
    const bool has_constant = random.unit() < 0.4;
    run.add(has_constant ? random_sign(random) * random.between(0.5, 1.5) : 0, false, has_constant);
  }
  constexpr double powers[] = {1, 1, -1, -1, 2, 2, 0.5};
  const std::size_t choices = options_.powers == Powers::Integer ? 6 : 7;
  for (std::size_t j = 0; j < J; ++j) {
    for (std::size_t k = 0; k < K; ++k) {
      const bool used = J == 1 || random.unit() < (K == 1 ? 1.0 : 0.6);
      run.add(used ? powers[random.below(choices)] : 0, true, true);
    }
  }
  for (std::size_t k = 0; k < K; ++k) run.add(random_sign(random), false, true);
  run.add(random_sign(random), false, random.unit() < 0.5 && K > 1);
  if (!run.free.back()) run.parameters.back() = 0;
  return run;
}

}  // namespace nalm::fitting
