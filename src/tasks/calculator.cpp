#include "tasks/calculator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/task.hpp"
#include "nalm/detail/portable.hpp"
#include "nalm/model.hpp"
#include "tasks/operation.hpp"

namespace nalm {
namespace {

constexpr int runs = 4;            // of which the best is kept
constexpr long check_every = 500;  // iterations
constexpr std::size_t validation_rows = 1000;
constexpr double rounding = 1e-15;  // a relative error that is no mistake
constexpr double nearest_denominator = 1;

// Their products have no sign; it follows from the operands' signs.
constexpr std::string_view signless[] = {"NAC*",        "NAC*sigmoid", "NAC*NMU", "NALU",     "G-NALU",
                                         "NALU-vector", "NALU2M",      "NALUIG",  "NALU2MIG", "MulMC-FC"};
// Those whose weights can be the power 1/2.
constexpr std::string_view rooters[] = {"NRU-power", "NPU", "RealNPU", "NaiveNPU", "NAC*", "NALU", "G-NALU"};

template <std::size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_product(CalcOperator op) { return op != CalcOperator::Add && op != CalcOperator::Subtract; }

Operation operation_of(CalcOperator op) {
  return operand_count(op) == 2 ? static_cast<Operation>(op) : Operation::Multiply;
}

void draw(CalcOperator op, const OperatorTraining& training, double range, Xoshiro& stream, std::span<double> x,
          std::span<double> t) {
  const std::size_t operands = static_cast<std::size_t>(operand_count(op));
  for (std::size_t k = 0; k < t.size(); ++k) {
    const std::span<double> row = x.subspan(k * operands, operands);
    for (double& v : row) v = stream.between(op == CalcOperator::Root ? 0 : -range, range);
    if (op == CalcOperator::Divide) row[1] = std::copysign(stream.between(nearest_denominator, range), row[1]);
    if (training.magnitudes)
      for (double& v : row) v = std::fabs(v);
    t[k] = exact_value(op, row);
  }
}

double root_mean_square(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// Whether every weight that should be a whole number is one in every bit.
bool is_whole(const Model& model) {
  for (const Layer& layer : model.layers) {
    const auto& weights = layer.module->weights;
    if (std::none_of(weights.begin(), weights.end(), [](const Quantity& q) { return q.counts_as_sparse; }))
      return false;
  }
  return *sparsity_error(model) == 0;
}

}  // namespace

std::string_view name_of(CalcOperator op) {
  constexpr std::string_view names[] = {"+", "-", "*", "/", "^2", "sqrt"};
  return names[static_cast<std::size_t>(op)];
}

int operand_count(CalcOperator op) { return op == CalcOperator::Square || op == CalcOperator::Root ? 1 : 2; }

double exact_value(CalcOperator op, std::span<const double> operands) {
  return apply(static_cast<SubsetOperation>(op), operands.front(), operands.back());
}

std::string_view standard_module(CalcOperator op) {
  constexpr std::string_view names[] = {"NAU", "NAU", "NMU", "NMRU", "NMU", "NRU-power"};
  return names[static_cast<std::size_t>(op)];
}

Result<OperatorTraining> module_training(CalcOperator op, std::string_view name) {
  const Result<const ModuleInfo*> module = find_module(name);
  if (!module) return module.error();
  const auto can = [&](const ModuleInfo& m) {
    if (op == CalcOperator::Root) return contains(rooters, m.name);
    return std::find(m.operations.begin(), m.operations.end(), operation_of(op)) != m.operations.end();
  };
  if (!can(**module)) {
    std::vector<std::string_view> able;
    for (const ModuleInfo* m : all_modules())
      if (can(*m)) able.push_back(m->name);
    return Error{fmt::format("the module {} cannot learn {}; those that can are {}.", (*module)->name, name_of(op),
                             fmt::join(able, ", "))};
  }
  OperatorTraining training;
  training.settings = default_training({{*module, default_shape(**module, operand_count(op), 1)}});
  training.magnitudes = is_product(op) && contains(signless, (*module)->name);
  return training;
}

OperatorRows operator_rows(CalcOperator op, const OperatorTraining& training, double range, std::size_t count,
                           std::string_view purpose, std::uint32_t seed) {
  OperatorRows rows{std::vector<double>(count * static_cast<std::size_t>(operand_count(op))),
                    std::vector<double>(count)};
  Xoshiro stream = stream_of(purpose, seed);
  draw(op, training, range, stream, rows.x, rows.t);
  return rows;
}

Result<LearntOperator> learn_operator(CalcOperator op, const OperatorTraining& training, std::uint32_t seed,
                                      const std::stop_token& stop) {
  Trainer::Settings settings = training.settings;
  settings.runs = runs;
  settings.precision = Precision::Double;
  settings.threads = 1;
  Result<Trainer> trainer = Trainer::create(settings);
  if (!trainer) return trainer.error();
  Xoshiro seeds = stream_of(fmt::format("calculator, {}", name_of(op)), seed);
  std::vector<Xoshiro> streams;
  for (int run = 0; run < runs; ++run) {
    if (Status started = trainer->start(run, seeds.next()); !started) return started.error();
    streams.emplace_back(seeds.next());
  }
  const BatchSource batches = [&](int run, long, std::span<double> x, std::span<double> t) {
    draw(op, training, training.range, streams[static_cast<std::size_t>(run)], x, t);
  };
  const OperatorRows validation =
      operator_rows(op, training, training.range, validation_rows, "calculator, validation", seed);
  const double size = root_mean_square(validation.t);

  LearntOperator best{op, *trainer->model(0), training.magnitudes, {}, std::numeric_limits<double>::infinity(), 0};
  bool exact = false;
  for (long e = 0; !exact && !stop.stop_requested(); e = trainer->iteration()) {
    for (int run = 0; run < runs && !exact; ++run) {
      Model model = *trainer->model(run);
      Result<std::vector<double>> y = predict(model, validation.x, Precision::Double);
      if (!y) return y.error();
      for (std::size_t k = 0; k < y->size(); ++k) (*y)[k] -= validation.t[k];
      const double absolute = root_mean_square(*y);
      // iNALU looks at it.
      if (Status set = trainer->set_validation_error(run, absolute * absolute); !set) return set.error();
      const bool whole = is_whole(model);
      // Modules that have no weights to be whole end with small errors alone.
      exact = absolute <= rounding * size && (whole || *sparsity_error(model) == 0);
      if (!exact && !(absolute / size < best.error)) continue;
      best.spelled.reset();
      if (whole) best.spelled = ideal_formula(model, {"a", "b"})->outputs.front();
      best.model = std::move(model);
      best.error = absolute / size;
      best.iterations = e;
    }
    if (e >= settings.recipe.training.iterations) break;
    const long now = std::min(check_every, settings.recipe.training.iterations - e);
    if (Status trained = trainer->train(now, batches); !trained) return trained.error();
  }
  return best;
}

std::string LearntOperator::modules() const {
  std::vector<std::string_view> names;
  for (const Layer& layer : model.layers) names.push_back(layer.module->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

double LearntOperator::operator()(std::span<const double> operands, bool raw) const {
  std::vector<double> x(operands.begin(), operands.end());
  double sign = 1;
  if (magnitudes) {
    if (op == CalcOperator::Multiply || op == CalcOperator::Divide)
      for (const double v : x) sign = std::signbit(v) ? -sign : sign;
    for (double& v : x) v = std::fabs(v);
  }
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  if (spelled && !raw) {
    const std::string names[] = {"a", "b"};
    const Result<double> y = evaluate(*spelled, std::span(names).first(x.size()), x);
    return y ? sign * *y : nothing;
  }
  const Result<std::vector<double>> y = predict(model, x, Precision::Double);
  return y ? sign * y->front() : nothing;
}

// ---- calculations --------------------------------------------------------------------------------------------------

double Calculation::error() const { return std::fabs(value - exact); }

double Calculation::relative_error() const { return value == exact ? 0 : error() / std::fabs(exact); }

bool Calculation::is_off() const {
  return !(error() <= 1e-6 * std::fabs(exact)) && !(error() <= 10 * rounding * scale);
}

Result<const LearntOperator*> Calculator::get(CalcOperator op) {
  std::optional<LearntOperator>& learnt = learnt_[index(op)];
  if (!learnt) {
    Result<LearntOperator> now = learn_operator(op, *training_[index(op)], seed_, stop_);
    if (!now) return now.error();
    learnt = std::move(*now);
  }
  return &*learnt;
}

namespace {

constexpr std::string_view beyond = "the result of this is beyond the largest number, 1.8e+308; use smaller numbers.";
constexpr std::string_view by_zero = "this divides by zero, which has no result.";
constexpr std::string_view negative_root =
    "this is a root of a negative number, which is not a real number; calculate with its magnitude.";

}  // namespace

// One calculation: a stack of operands, each as the modules have it and as it should be.
class CalcRun {
 public:
  explicit CalcRun(Calculator& calculator) : calculator_(calculator) {}

  std::variant<Calculation, CalcMistake> run(std::span<const CalcToken> postfix) {
    for (const CalcToken& token : postfix) {
      position_ = token.position;
      step(token);
      if (!mistake_ && !std::isfinite(stack_.back().exact)) fail(beyond);
      if (mistake_) return *std::move(mistake_);
    }
    result_.value = stack_.back().value;
    result_.exact = stack_.back().exact;
    result_.scale = stack_.back().scale;
    return std::move(result_);
  }

 private:
  using Kind = CalcToken::Kind;
  struct Operand {
    double value = 0, exact = 0;
    double scale = 0;  // see Calculation
  };

  void step(const CalcToken& token) {
    if (token.kind == Kind::Number) {
      stack_.push_back({token.value, token.value, std::fabs(token.value)});
      return;
    }
    Operand& a = token.kind == Kind::Negate || token.kind == Kind::Root ? stack_.back() : stack_[stack_.size() - 2];
    const Operand b = stack_.back();
    switch (token.kind) {
      case Kind::Negate:
        a.value = -a.value, a.exact = -a.exact;
        return;
      case Kind::Root:
        a = root(a);
        return;
      case Kind::Add:
        a = {ask(CalcOperator::Add, {a.value, b.value}), a.exact + b.exact, a.scale + b.scale};
        break;
      case Kind::Subtract:
        a = {ask(CalcOperator::Subtract, {a.value, b.value}), a.exact - b.exact, a.scale + b.scale};
        break;
      case Kind::Multiply:
        a = {ask(CalcOperator::Multiply, {a.value, b.value}), a.exact * b.exact, a.scale * b.scale};
        break;
      case Kind::Divide: {
        if (b.exact == 0) return fail(by_zero);
        const double quotient = a.exact / b.exact;
        a = {ask(CalcOperator::Divide, {a.value, b.value}), quotient,
             (a.scale + std::fabs(quotient) * b.scale) / std::fabs(b.exact)};
        break;
      }
      default:
        a = power(a, b);
    }
    stack_.pop_back();
  }

  // The operand of a root may come out below 0 where modules are not exact; its magnitude is taken then.
  Operand root(const Operand& a) {
    if (a.exact < 0) return fail(negative_root), a;
    const double exact = std::sqrt(a.exact);
    return {ask(CalcOperator::Root, {std::fabs(a.value)}), exact,
            a.exact > 0 ? exact * (1 + a.scale / a.exact / 2) : std::sqrt(a.scale)};
  }

  // Whole powers are products, those of halves products of roots, negative ones reciprocals. Other powers would need a
  // module for each of them.
  Operand power(const Operand& a, const Operand& b) {
    if (a.exact == 0 && b.exact < 0) return fail(by_zero), a;
    if (a.exact < 0 && b.exact != std::round(b.exact)) return fail(negative_root), a;
    const double halves = std::round(2 * b.value);
    if (!(std::fabs(2 * b.value - halves) <= 1e-6) || !(std::fabs(halves) < 0x1p53)) {
      fail(
          fmt::format("the exponent {} is neither a whole number nor a half of one below 4e+15, and no module has "
                      "learnt it; use powers such as ^3, ^-2, ^0.5 or sqrt(...).",
                      b.value));
      return a;
    }
    const double exact = portable::pow(a.exact, b.exact);
    const double scale =
        std::fabs(exact) * (1 + (a.exact != 0 ? std::fabs(b.exact) * a.scale / std::fabs(a.exact) : 0));
    if (!std::isfinite(exact)) return fail(beyond), a;  // before the modules are asked for nothing
    auto count = static_cast<std::uint64_t>(std::fabs(halves));
    double value = a.value;
    if (count % 2 != 0) {
      value = ask(CalcOperator::Root, {std::fabs(value)});
    } else {
      count /= 2;
    }
    value = whole_power(value, count);
    if (halves < 0) value = ask(CalcOperator::Divide, {1, value});
    return {value, exact, scale};
  }

  double whole_power(double x, std::uint64_t n) {
    if (n == 0) return 1;
    if (n == 2 && calculator_.can(CalcOperator::Square)) return ask(CalcOperator::Square, {x});
    // By squaring: n can be large.
    std::optional<double> product;
    for (;; n /= 2) {
      if (n % 2 != 0) product = product ? ask(CalcOperator::Multiply, {*product, x}) : x;
      if (n == 1 || mistake_) return product.value_or(x);
      x = ask(CalcOperator::Multiply, {x, x});
    }
  }

  double ask(CalcOperator op, std::vector<double> operands) {
    const Result<const LearntOperator*> by = calculator_.get(op);
    if (!by) return fail(by.error().message), 0;
    const double prediction = (**by)(operands, calculator_.raw_);
    const double exact = exact_value(op, operands);
    result_.steps.push_back({*by, std::move(operands), prediction, exact});
    return prediction;
  }

  void fail(std::string_view sentence) {
    if (!mistake_) mistake_ = CalcMistake{position_, std::string(sentence)};
  }

  Calculator& calculator_;
  std::vector<Operand> stack_;
  std::size_t position_ = 0;
  Calculation result_;
  std::optional<CalcMistake> mistake_;
};

std::variant<Calculation, CalcMistake> Calculator::run(std::span<const CalcToken> postfix) {
  return CalcRun(*this).run(postfix);
}

}  // namespace nalm
