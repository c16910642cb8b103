#include "fit/search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>

#include "base/threads.hpp"
#include "fit/climb.hpp"
#include "fit/dictionary.hpp"
#include "fit/polynomials.hpp"
#include "train/least_squares.hpp"

namespace nalm::fitting {

namespace {

// A training needs few rows to find a formula; what it finds is judged on more.
constexpr std::size_t rows_of_a_training = 160, rows_of_the_dictionary = 128, rows_of_a_judgement = 256;
constexpr std::size_t entries_of_the_dictionary = 4000;
constexpr double largest_power = 6;
constexpr int steps_with_fixed_powers = 6, steps_with_free_powers = 50;

// ---- the ladder ----------------------------------------------------------------------------------------------------

// One kind of stack. Columns pass through NRU-power (products), Linear (sums with constants) and so on:
//   Product  NRU-power:1, Linear:1                    c * a^p * b^q
//   Sum      NRU-power:K, Linear:1                    sums of products
//   Power    NRU-power:K, Linear:1, NRU-power:1       roots and reciprocals of sums of products
//   Ratio    NRU-power:K, Linear:2, NRU-power:1       ratios of sums of products
//   Factor   NRU-power:K+4, Linear:3, NRU-power:1     sums of products, times a product, times a power of a simple sum
//   Nested   Linear:J, NRU-power:K, Linear:1          sums of products of sums
// Line, Quadratic and Rational (fit/polynomials.hpp) need no training: they are linear least squares.
struct Rung {
  enum class Kind { Line, Product, Sum, Power, Ratio, Factor, Nested, Quadratic, Rational };
  Kind kind = Kind::Sum;
  int terms = 1;     // products of columns; Nested: products of sums
  int below = 0;     // Ratio: further products in the denominator, besides 1
  int inner = 0;     // Nested: sums
  double power = 1;  // of the target that is a sum or a ratio
  int restarts = 16;
};

using Wave = std::vector<Rung>;

std::vector<Wave> ladder(const Data& data, Powers powers) {
  using Kind = Rung::Kind;
  const bool one_sign = std::all_of(data.y.begin(), data.y.end(), [](double y) { return y > 0; }) ||
                        std::all_of(data.y.begin(), data.y.end(), [](double y) { return y < 0; });
  const bool positive = one_sign && data.y[0] > 0;
  std::vector<double> target_powers = {-1};
  if (positive && powers != Powers::Integer) target_powers.insert(target_powers.end(), {2, -2});
  if (positive) target_powers.insert(target_powers.end(), {0.5, -0.5});

  Wave products = {{Kind::Line, 1, 0, 0, 1, 8}, {Kind::Product, 1, 0, 0, 1, 24}};
  Wave small = {{Kind::Sum, 2, 0, 0, 1, 16}};
  for (const double power : target_powers) small.push_back({Kind::Power, 2, 0, 0, power, 8});
  small.push_back({Kind::Ratio, 1, 1, 0, 1, 12});
  small.push_back({Kind::Ratio, 0, 1, 0, 1, 8});
  small.push_back({Kind::Ratio, 2, 1, 0, 1, 12});
  for (const int terms : {1, 2, 3}) small.push_back({Kind::Factor, terms, 0, 0, 1, 12});
  for (const double power : target_powers) {
    if (std::fabs(power) >= 1) small.push_back({Kind::Factor, 2, 0, 0, power, 8});
  }
  small.push_back({Kind::Nested, 1, 0, 1, 1, 8});
  small.push_back({Kind::Nested, 1, 0, 2, 1, 16});

  Wave medium = {{Kind::Sum, 3, 0, 0, 1, 24}, {Kind::Sum, 4, 0, 0, 1, 24}};
  for (const double power : target_powers) medium.push_back({Kind::Power, 3, 0, 0, power, 8});
  for (const double power : target_powers) {
    if (std::fabs(power) >= 1) medium.push_back({Kind::Factor, 3, 0, 0, power, 8});
  }
  medium.push_back({Kind::Quadratic, 1, 0, 0, 1, 4});
  for (const double power : target_powers) medium.push_back({Kind::Quadratic, 1, 0, 0, power, 4});
  medium.push_back({Kind::Rational, 1, 0, 0, 1, 4});
  medium.push_back({Kind::Ratio, 1, 2, 0, 1, 12});
  medium.push_back({Kind::Ratio, 2, 2, 0, 1, 16});
  medium.push_back({Kind::Ratio, 3, 1, 0, 1, 12});
  medium.push_back({Kind::Ratio, 3, 2, 0, 1, 16});
  medium.push_back({Kind::Nested, 2, 0, 2, 1, 24});
  medium.push_back({Kind::Nested, 2, 0, 3, 1, 24});

  Wave large = {{Kind::Sum, 5, 0, 0, 1, 16}, {Kind::Sum, 6, 0, 0, 1, 16}};
  for (const double power : target_powers) large.push_back({Kind::Power, 4, 0, 0, power, 8});
  for (const double power : target_powers) large.push_back({Kind::Power, 6, 0, 0, power, 8});
  for (const int terms : {4, 6}) {
    large.push_back({Kind::Factor, terms, 0, 0, 1, 8});
    for (const double power : target_powers) large.push_back({Kind::Factor, terms, 0, 0, power, 8});
  }
  large.push_back({Kind::Ratio, 3, 3, 0, 1, 8});
  large.push_back({Kind::Ratio, 4, 2, 0, 1, 8});
  large.push_back({Kind::Ratio, 5, 3, 0, 1, 8});
  large.push_back({Kind::Nested, 3, 0, 3, 1, 16});
  large.push_back({Kind::Nested, 3, 0, 4, 1, 16});
  return {products, small, medium, large};
}

// ---- a stack and its numbers ---------------------------------------------------------------------------------------

LayerSpec layer(const char* module, int inputs, int outputs) {
  const ModuleInfo* info = *find_module(module);
  return {info, default_shape(*info, inputs, outputs)};
}

Stack stack_of(const Rung& rung, int columns) {
  using Kind = Rung::Kind;
  const int K = std::max(1, rung.terms + rung.below);
  switch (rung.kind) {
    case Kind::Line:
    case Kind::Product:
    case Kind::Sum:
      return {layer("NRU-power", columns, K), layer("Linear", K, 1)};
    case Kind::Power:
      return {layer("NRU-power", columns, K), layer("Linear", K, 1), layer("NRU-power", 1, 1)};
    case Kind::Ratio:
      return {layer("NRU-power", columns, K), layer("Linear", K, 2), layer("NRU-power", 2, 1)};
    case Kind::Factor:
      return {layer("NRU-power", columns, K + 4), layer("Linear", K + 4, 3), layer("NRU-power", 3, 1)};
    case Kind::Nested:
    case Kind::Quadratic:
    case Kind::Rational:
      break;
  }
  return {layer("Linear", columns, rung.inner), layer("NRU-power", rung.inner, rung.terms),
          layer("Linear", rung.terms, 1)};
}

// Parameters of a stack in the order of its layers, and which of them are powers.
struct Run {
  std::vector<double> parameters;
  std::vector<std::uint8_t> is_power;
  std::vector<std::uint8_t> free;

  void add(double value, bool power, bool is_free) {
    parameters.push_back(value);
    is_power.push_back(power);
    free.push_back(is_free);
  }
  std::vector<std::uint8_t> free_numbers() const {
    std::vector<std::uint8_t> result = free;
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = result[k] && !is_power[k];
    return result;
  }
};

double random_sign(Xoshiro& random) { return random.unit() < 0.5 ? -1 : 1; }

class Search {
 public:
  Search(const Data& data, const FitOptions& options, const SearchWatch& watch)
      : data_(data),
        options_(options),
        watch_(watch),
        judgement_(rows_of(data, data.train, rows_of_a_judgement)),
        dictionary_(data, spread(rows_of_the_dictionary), options.powers, entries_of_the_dictionary),
        target_(simd::active_target()),
        ratios_(dictionary_),
        factors_(data, spread(rows_of_the_dictionary), options.powers) {
    for (const double power : {1.0, -1.0, 2.0, -2.0, 0.5, -0.5}) goals_[power] = goal_for_power(dictionary_, power);
  }

  SearchResult run() {
    const std::vector<Wave> waves = ladder(data_, options_.powers);
    int total = 0;
    for (const Wave& wave : waves) {
      for (const Rung& rung : wave) total += rung.restarts;
    }
    total_ = total;
    double best_length = std::numeric_limits<double>::infinity();
    for (std::size_t w = 0; w < waves.size() && !result_.cut; ++w) {
      if (w == 1) ratios_.rank_denominators(options_.threads);
      for (std::size_t r = 0; r < waves[w].size() && !result_.cut && !is_exact(); ++r) {
        const Rung& rung = waves[w][r];
        if (rung.kind == Rung::Kind::Factor) factors_.rank_factors(rung.terms, rung.power, options_.threads);
        train({rung}, 100 * w + r);
      }
      improve_best();
      const double length = result_.found.empty() ? best_length : result_.found[0].length;
      if (is_exact()) break;
      // Larger stacks have nothing to add once one size up did not, and several restarts agree.
      if (w >= 2 && best_length - length < 5 && agreeing() >= 3) break;
      best_length = length;
    }
    return std::move(result_);
  }

 private:
  // ---- starts ----

  std::vector<std::size_t> spread(std::size_t count) const {
    std::vector<std::size_t> rows;
    count = std::min(count, data_.train.size());
    for (std::size_t k = 0; k < count; ++k) rows.push_back(data_.train[k * data_.train.size() / count]);
    return rows;
  }

  // Powers that may move: of the columns that a start uses, and some others.
  std::vector<bool> movable_columns(const std::vector<PowerList>& products, Xoshiro& random) const {
    std::vector<bool> movable(data_.inputs, data_.inputs <= 4);
    for (const PowerList& powers : products) {
      for (std::size_t i = 0; i < data_.inputs; ++i) movable[i] = movable[i] || powers[i] != 0;
    }
    movable[random.below(data_.inputs)] = true;
    return movable;
  }

  // NRU-power:K, Linear:m and, if there are outer powers, NRU-power:1. factors[sum][product].
  Run products_run(const std::vector<PowerList>& products, const std::vector<std::vector<double>>& factors,
                   const std::vector<double>& constants, const std::vector<double>& outer, Xoshiro& random) const {
    Run run;
    const std::vector<bool> movable = movable_columns(products, random);
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
  Run product_start(const std::vector<std::size_t>& rows, bool chance, Xoshiro& random) const {
    const Vector found = powers_of_one_product(data_, rows);
    PowerList powers(data_.inputs);
    for (std::size_t i = 0; i < data_.inputs; ++i) {
      powers[i] = found[i] + (chance ? 0.3 * random.gaussian() : 0);
    }
    // The sign of the factor: that which most of the target has.
    double sign = 0;
    for (const std::size_t r : rows) {
      double product = data_.y[r];
      for (std::size_t i = 0; i < data_.inputs; ++i) {
        if (data_.row(r)[i] < 0 && std::cos(3.14159265358979 * powers[i]) < 0) product = -product;
      }
      sign += product;
    }
    const double factor = std::exp(std::clamp(found.back(), -50.0, 50.0));
    Run run = products_run({powers}, {{sign < 0 ? -factor : factor}}, {0}, {}, random);
    for (std::size_t k = 0; k < data_.inputs; ++k) run.free[k] = 1;
    return run;
  }

  Run picked_start(const Rung& rung, bool chance, Xoshiro& random) const {
    const bool ratio = rung.kind == Rung::Kind::Ratio;
    const Picked picked =
        ratio ? ratios_.pick(rung.terms, rung.below, chance, random)
              : pick(dictionary_, goals_.at(rung.power), rung.terms, chance, chance && random.unit() < 0.5, random);
    std::vector<PowerList> products;
    for (const std::size_t k : picked.plain) products.push_back(dictionary_.powers(k));
    for (const std::size_t k : picked.times_target) products.push_back(dictionary_.powers(k));
    if (!ratio) {
      std::vector<double> outer;
      if (rung.kind == Rung::Kind::Power) outer.push_back(1 / rung.power);
      return products_run(products, {picked.plain_factors}, {picked.constant}, outer, random);
    }
    std::vector<double> above(products.size(), 0.0), below(products.size(), 0.0);
    std::copy(picked.plain_factors.begin(), picked.plain_factors.end(), above.begin());
    std::copy(picked.target_factors.begin(), picked.target_factors.end(),
              below.begin() + static_cast<std::ptrdiff_t>(picked.plain.size()));
    Run run = products_run(products, {above, below}, {picked.constant, 1}, {1, -1}, random);
    run.free[run.free.size() - 3] = 0;  // the 1 in the denominator
    return run;
  }

  // The sum, the product and the simple sum, each with room of its own among the products of the first layer.
  Run factor_start(const Rung& rung, bool chance, Xoshiro& random) const {
    const FactorPicker::Factored found = factors_.pick(rung.terms, rung.power, chance, random);
    std::vector<PowerList> products;
    for (const std::size_t k : found.picked.plain) products.push_back(factors_.dictionary().powers(k));
    products.resize(static_cast<std::size_t>(rung.terms), PowerList(data_.inputs, 0.0));
    products.push_back(found.product.empty() ? PowerList(data_.inputs, 0.0) : found.product);
    std::vector<std::vector<double>> sums(3, std::vector<double>(products.size() + 3, 0.0));
    std::copy(found.picked.plain_factors.begin(), found.picked.plain_factors.end(), sums[0].begin());
    double product_constant = 0, sum_constant = found.sum.terms.empty() ? 1 : 0;
    if (is_constant(products.back())) {
      product_constant = 1;
    } else {
      sums[1][products.size() - 1] = 1;
    }
    for (const Term& term : found.sum.terms) {
      if (is_constant(term.powers)) {
        sum_constant += term.coefficient.value;
      } else {
        sums[2][products.size()] = term.coefficient.value;
        products.push_back(term.powers);
      }
    }
    products.resize(static_cast<std::size_t>(rung.terms) + 4, PowerList(data_.inputs, 0.0));
    return products_run(products, sums, {found.picked.constant, product_constant, sum_constant},
                        {1 / rung.power, 1, found.power}, random);
  }

  Run nested_start(const Rung& rung, Xoshiro& random) const {
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

  // ---- from numbers to a form ----

  double rounded(double power, bool whole) const {
    if (options_.powers == Powers::Integer || whole) return std::round(power);
    const double half = std::round(2 * power) / 2;
    if (options_.powers == Powers::Half || std::fabs(half - power) < 0.02) return half;
    return std::round(power * 1e4) / 1e4;
  }

  std::optional<Form> form_of(const Rung& rung, const std::vector<double>& parameters) const {
    const double* next = parameters.data();
    Form form;
    std::vector<PowerList> products;
    const std::size_t I = data_.inputs;
    if (rung.kind == Rung::Kind::Nested) {
      const std::size_t J = static_cast<std::size_t>(rung.inner), K = static_cast<std::size_t>(rung.terms);
      form.sums.resize(J);
      for (std::size_t i = 0; i < I; ++i) {
        for (std::size_t j = 0; j < J; ++j) {
          PowerList column(I, 0.0);
          column[i] = 1;
          form.sums[j].terms.push_back({{*next++ / data_.x_scale[i], true}, std::move(column)});
        }
      }
      for (std::size_t j = 0; j < J; ++j) form.sums[j].terms.push_back({{*next++, true}, PowerList(I, 0.0)});
      form.products.resize(K);
      for (Product& product : form.products) product.powers.assign(I, 0.0);
      for (std::size_t j = 0; j < J; ++j) {
        for (std::size_t k = 0; k < K; ++k) {
          const double power = rounded(*next++, false);
          if (std::fabs(power) > 4) return std::nullopt;
          if (power != 0) form.products[k].sums.push_back({static_cast<int>(j), power});
        }
      }
      for (Product& product : form.products) product.coefficient.value = *next++ * data_.y_scale;
      form.products.push_back({{*next++ * data_.y_scale, true}, PowerList(I, 0.0), {}});
      // Weights that are nothing but rounding.
      for (InnerSum& sum : form.sums) {
        double largest = 0;
        for (std::size_t t = 0; t < sum.terms.size(); ++t) {
          largest = std::max(largest, std::fabs(sum.terms[t].coefficient.value) * (t < I ? data_.x_scale[t] : 1));
        }
        for (std::size_t t = 0; t < sum.terms.size(); ++t) {
          const double size = std::fabs(sum.terms[t].coefficient.value) * (t < I ? data_.x_scale[t] : 1);
          if (size < 1e-6 * largest) sum.terms[t].coefficient.value = 0;
        }
      }
    } else {
      const bool factor = rung.kind == Rung::Kind::Factor;
      const std::size_t K = static_cast<std::size_t>(std::max(1, rung.terms + rung.below) + (factor ? 4 : 0));
      const std::size_t sums = factor ? 3 : rung.kind == Rung::Kind::Ratio ? 2 : 1;
      products.assign(K, PowerList(I, 0.0));
      std::vector<double> scale(K, 1.0);
      for (std::size_t i = 0; i < I; ++i) {
        for (std::size_t k = 0; k < K; ++k) {
          products[k][i] = rounded(*next++, data_.negative[i]);
          if (std::fabs(products[k][i]) > largest_power) return std::nullopt;
          scale[k] *= std::pow(data_.x_scale[i], -products[k][i]);
        }
      }
      form.sums.resize(sums);
      for (std::size_t k = 0; k < K; ++k) {
        for (std::size_t s = 0; s < sums; ++s) form.sums[s].terms.push_back({{*next++ * scale[k], true}, products[k]});
      }
      for (std::size_t s = 0; s < sums; ++s) form.sums[s].terms.push_back({{*next++, true}, PowerList(I, 0.0)});
      Product product{{data_.y_scale, true}, PowerList(I, 0.0), {}};
      for (std::size_t s = 0; s < sums; ++s) {
        const bool has_outer = factor || rung.kind == Rung::Kind::Power || rung.kind == Rung::Kind::Ratio;
        product.sums.push_back({static_cast<int>(s), has_outer ? rounded(*next++, false) : 1.0});
      }
      form.products = {product};
    }
    for (const Number* number : numbers(form)) {
      if (!std::isfinite(number->value)) return std::nullopt;
    }
    if (!normalise(form, data_.negative)) return std::nullopt;
    return form;
  }

  // ---- trainings ----

  struct Task {
    const Rung* rung;
    int first, count;  // restarts of the rung
    std::uint64_t seed;
  };

  void train(const Wave& wave, std::size_t wave_number) {
    std::vector<Task> tasks;
    const int lanes = target_.lanes<double>();
    for (std::size_t r = 0; r < wave.size(); ++r) {
      // Always the same four restarts to a task, so that the order of results does not depend on the lanes.
      for (int first = 0; first < wave[r].restarts; first += 4) {
        tasks.push_back({&wave[r], first, std::min(4, wave[r].restarts - first),
                         options_.seed * 0x9e3779b97f4a7c15u + wave_number * 1000003u + r * 10007u});
      }
    }
    std::vector<std::vector<Found>> results(tasks.size());
    parallel_for(static_cast<int>(tasks.size()), options_.threads, [&](int k) {
      if (watch_.stop && watch_.stop()) {
        was_cut_ = true;
        return;
      }
      const Task& task = tasks[static_cast<std::size_t>(k)];
      for (int first = 0; first < task.count; first += lanes) {
        for (Found& found : train(task, first, std::min(lanes, task.count - first))) {
          results[static_cast<std::size_t>(k)].push_back(std::move(found));
        }
      }
      const std::lock_guard lock(progress_);
      report(task.count);
    });
    result_.cut = result_.cut || was_cut_;
    for (std::vector<Found>& found : results) {
      for (Found& f : found) {
        keep(f);
        result_.restarts.push_back(std::move(f));
      }
    }
    sort_found();
  }

  // So many restarts side by side.
  std::vector<Found> train(const Task& task, int first, int count) {
    const Rung& rung = *task.rung;
    if (rung.kind == Rung::Kind::Line || rung.kind == Rung::Kind::Quadratic || rung.kind == Rung::Kind::Rational)
      return linear(task, first, count);
    std::vector<Run> runs;
    std::vector<std::optional<Form>> starts;
    const Stack stack = stack_of(rung, static_cast<int>(data_.inputs));
    const std::size_t rows = std::min(rows_of_a_training, data_.train.size());
    LeastSquares least_squares(stack, static_cast<int>(rows), target_);
    std::vector<double> x, y;
    for (int lane = 0; lane < least_squares.lanes(); ++lane) {
      const int restart = task.first + first + std::min(lane, count - 1);  // lanes to spare repeat the last restart
      Xoshiro random(task.seed + static_cast<std::uint64_t>(restart) * 0x2545f4914f6cdd1du);
      const std::vector<std::size_t> sample = draw_rows(rows, random);
      if (lane < count) {
        runs.push_back(start(rung, restart, sample, random));
        starts.push_back(rung.kind == Rung::Kind::Nested ? std::nullopt : form_of(rung, runs.back().parameters));
      }
      x.clear();
      y.clear();
      for (const std::size_t r : sample) {
        for (std::size_t i = 0; i < data_.inputs; ++i) x.push_back(data_.row(r)[i] / data_.x_scale[i]);
        y.push_back(data_.y[r] / data_.y_scale);
      }
      least_squares.set_data(lane, x, y);
      least_squares.set_run(lane, runs.back().parameters, runs.back().free_numbers());
    }
    least_squares.minimise(steps_with_fixed_powers);
    for (int lane = 0; lane < least_squares.lanes(); ++lane) {
      const Run& run = runs[static_cast<std::size_t>(std::min(lane, count - 1))];
      least_squares.set_run(lane, least_squares.parameters(lane), run.free);
    }
    least_squares.minimise(steps_with_free_powers);
    std::vector<Found> result;
    for (int lane = 0; lane < count; ++lane) {
      Found best;
      best.length = best.mse = std::numeric_limits<double>::infinity();
      if (const auto& form = starts[static_cast<std::size_t>(lane)]) best = judged(*form, true);
      // Powers that are still free explain more than the rounded ones can.
      const double reachable = least_squares.mse(lane);
      if (std::isfinite(reachable) && reachable < 4 * limit_) {
        if (const auto form = form_of(rung, least_squares.parameters(lane))) {
          Found trained = judged(*form, true);
          if (trained.length < best.length) best = std::move(trained);
        }
      }
      result.push_back(std::move(best));
    }
    return result;
  }

  // Linear least squares need no start; a restart has its own rows.
  std::vector<Found> linear(const Task& task, int first, int count) const {
    std::vector<Found> result;
    for (int k = 0; k < count; ++k) {
      Xoshiro random(task.seed + static_cast<std::uint64_t>(task.first + first + k));
      const std::vector<std::size_t> sample =
          draw_rows(std::min(data_.train.size(), rows_of_a_judgement) * 3 / 4, random);
      const Rows rows = rows_of(data_, sample, sample.size());
      if (task.rung->kind != Rung::Kind::Line) {
        const double power = task.rung->power;
        const std::optional<Form> form = task.rung->kind == Rung::Kind::Quadratic ? quadratic_form(data_, rows, power)
                                                                                  : rational_form(data_, rows, power);
        if (form) result.push_back(judged(*form, true));
        continue;
      }
      const Judge judge{data_, rows, options_.powers, options_.use};
      Form form = sum_of_columns(data_);
      double mse = 0, length = 0;
      if (!judge.measure(form, mse, length)) continue;
      prune(judge, form, mse, length);
      result.push_back(judged(form, false));
    }
    return result;
  }

  Run start(const Rung& rung, int restart, const std::vector<std::size_t>& rows, Xoshiro& random) const {
    if (rung.kind == Rung::Kind::Product) return product_start(rows, restart > 0, random);
    if (rung.kind == Rung::Kind::Nested) return nested_start(rung, random);
    if (rung.kind == Rung::Kind::Factor) return factor_start(rung, restart > 0, random);
    return picked_start(rung, restart > 0, random);
  }

  std::vector<std::size_t> draw_rows(std::size_t count, Xoshiro& random) const {
    std::vector<std::size_t> rows = data_.train;
    for (std::size_t k = 0; k < count; ++k) std::swap(rows[k], rows[k + random.below(rows.size() - k)]);
    rows.resize(count);
    return rows;
  }

  // ---- what is found ----

  Found judged(Form form, bool pruned) const {
    Found found;
    found.mse = found.length = std::numeric_limits<double>::infinity();
    Judge judge{data_, judgement_, options_.powers, options_.use};
    if (!judge.measure(form, found.mse, found.length)) return found;
    if (pruned) prune(judge, form, found.mse, found.length);
    // Squares of sums can be turned like axes without changing their sum; written out there is only one way.
    if (std::optional<Form> other = expanded(form)) {
      double mse = 0, length = 0;
      if (judge.measure(*other, mse, length)) {
        prune(judge, *other, mse, length);
        if (length < found.length) form = std::move(*other), found.mse = mse, found.length = length;
      }
    }
    found.key = key_of(form);
    found.form = std::move(form);
    return found;
  }

  void keep(const Found& found) {
    if (!std::isfinite(found.length)) return;
    const auto same =
        std::find_if(result_.found.begin(), result_.found.end(), [&](const Found& f) { return f.key == found.key; });
    if (same == result_.found.end()) {
      result_.found.push_back(found);
    } else if (found.length < same->length) {
      *same = found;
    }
  }

  void sort_found() {
    std::stable_sort(result_.found.begin(), result_.found.end(),
                     [](const Found& a, const Found& b) { return a.length < b.length; });
    if (result_.found.size() > 200) result_.found.resize(200);
    if (!result_.found.empty()) limit_ = std::min(limit_, result_.found[0].mse);
  }

  bool is_exact() const { return !result_.found.empty() && result_.found[0].mse < rounding_level * rounding_level; }

  // Restarts that spell the best formula.
  long agreeing() const {
    if (result_.found.empty()) return 0;
    return std::count_if(result_.restarts.begin(), result_.restarts.end(),
                         [&](const Found& r) { return r.key == result_.found[0].key; });
  }

  // Small changes to the best formulas, as long as they help.
  void improve_best() {
    if (is_exact() || result_.cut) return;
    const std::size_t count = std::min<std::size_t>(4, result_.found.size());
    std::vector<Found> improved(result_.found.begin(), result_.found.begin() + static_cast<std::ptrdiff_t>(count));
    parallel_for(static_cast<int>(count), options_.threads, [&](int k) {
      Found& found = improved[static_cast<std::size_t>(k)];
      Judge judge{data_, judgement_, options_.powers, options_.use};
      climb(judge, found.form, found.mse, found.length, watch_.stop);
      found.key = key_of(found.form);
    });
    for (const Found& found : improved) keep(found);
    sort_found();
  }

  void report(int restarts) {
    restarts_ += restarts;
    if (!watch_.progress) return;
    watch_.progress(static_cast<double>(restarts_) / total_, restarts_,
                    result_.found.empty() ? nullptr : &result_.found[0]);
  }

  const Data& data_;
  const FitOptions& options_;
  const SearchWatch& watch_;
  const Rows judgement_;
  const Dictionary dictionary_;
  const simd::Target& target_;
  RatioPicker ratios_;
  FactorPicker factors_;
  std::map<double, Goal> goals_;
  SearchResult result_;
  double limit_ = std::numeric_limits<double>::infinity();  // the error of the best so far
  std::atomic<bool> was_cut_ = false;
  std::mutex progress_;
  int restarts_ = 0, total_ = 1;
};

}  // namespace

SearchResult search(const Data& data, const FitOptions& options, const SearchWatch& watch) {
  return Search(data, options, watch).run();
}

}  // namespace nalm::fitting
