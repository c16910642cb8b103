#include "fit/tape.hpp"

#include <algorithm>
#include <cmath>

#include "formula/node.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

using Kind = Expression::Kind;

std::string slot_name(int slot) { return std::string("\x01") + std::to_string(slot); }

int slot_number(const std::string& name) {
  return name.size() > 1 && name[0] == '\x01' ? std::stoi(name.substr(1)) : -1;
}

Tape::Tape(const Expression& formula, const std::vector<std::string>& columns, int slots,
           std::span<const double* const> rows)
    : formula_(formula), slots_(slots) {
  std::vector<int> stack;
  formula::visit_operands_first(formula_, [&](const Expression& e) {
    Step step{.kind = e.kind()};
    if (e.kind() == Kind::Constant) {
      step.constant = e.constant();
    } else if (e.kind() == Kind::Variable) {
      step.slot = slot_number(e.name());
      step.depends = step.slot >= 0;
      if (step.slot < 0) {
        step.column = static_cast<int>(std::find(columns.begin(), columns.end(), e.name()) - columns.begin());
      }
    } else {
      if (e.operands().size() > 1) step.b = stack.back(), stack.pop_back();
      step.a = stack.back(), stack.pop_back();
      step.call = &e;
      step.depends = depends(step.a) || depends(step.b);
      if (e.kind() == Kind::Power && e.operands()[1].kind() == Kind::Constant) {
        step.constant_power = true;
        step.constant = e.operands()[1].constant();
      }
    }
    stack.push_back(static_cast<int>(steps_.size()));
    steps_.push_back(step);
  });
  values_.resize(steps_.size() * block);

  // Powers of columns cost most, and no slot changes them: they are computed here, once.
  std::vector<std::size_t> kept;
  const auto keep = [&](int step) {
    if (step >= 0 && !depends(step)) kept.push_back(static_cast<std::size_t>(step));
  };
  for (const Step& step : steps_) {
    if (!step.depends) continue;
    keep(step.a);
    if (!step.constant_power) keep(step.b);
  }
  if (!steps_.back().depends) keep(static_cast<int>(steps_.size()) - 1);
  kept_.resize(kept.size() * rows.size());
  for (std::size_t first = 0; first < rows.size(); first += block) {
    const std::size_t count = std::min(block, rows.size() - first);
    for (std::size_t index = 0; index < steps_.size(); ++index) {
      const Step& step = steps_[index];
      if (step.depends) continue;
      double* y = values_.data() + index * block;
      if (step.column >= 0) {
        for (std::size_t k = 0; k < count; ++k) y[k] = rows[first + k][step.column];
      } else if (step.kind == Kind::Constant) {
        std::fill_n(y, count, step.constant);
      } else {
        values_of(step, y, 0, count);
      }
    }
    for (std::size_t k = 0; k < kept.size(); ++k)
      std::copy_n(values_.data() + kept[k] * block, count, kept_.data() + k * rows.size() + first);
  }
  for (std::size_t k = 0; k < kept.size(); ++k) steps_[kept[k]].kept = kept_.data() + k * rows.size();
}

void Tape::values_of(const Step& step, double* y, std::size_t first, std::size_t count) {
  const double* a = value(step.a, first);
  const double* b = step.b >= 0 ? value(step.b, first) : nullptr;
  const auto each = [&](auto f) {
    for (std::size_t k = 0; k < count; ++k) y[k] = f(k);
  };
  switch (step.kind) {
    case Kind::Negate:
      return each([=](std::size_t k) { return -a[k]; });
    case Kind::Add:
      return each([=](std::size_t k) { return a[k] + b[k]; });
    case Kind::Subtract:
      return each([=](std::size_t k) { return a[k] - b[k]; });
    case Kind::Multiply:
      return each([=](std::size_t k) { return a[k] * b[k]; });
    case Kind::Divide:
      return each([=](std::size_t k) { return a[k] / b[k]; });
    case Kind::Power: {
      const double power = step.constant;
      if (!step.constant_power) return each([=](std::size_t k) { return portable::pow(a[k], b[k]); });
      // The usual powers without pow, which costs ten times as much.
      if (power == 2) return each([=](std::size_t k) { return a[k] * a[k]; });
      if (power == 3) return each([=](std::size_t k) { return a[k] * a[k] * a[k]; });
      if (power == -1) return each([=](std::size_t k) { return 1 / a[k]; });
      if (power == -2) return each([=](std::size_t k) { return 1 / (a[k] * a[k]); });
      if (power == 0.5) return each([=](std::size_t k) { return std::sqrt(a[k]); });
      if (power == -0.5) return each([=](std::size_t k) { return 1 / std::sqrt(a[k]); });
      return each([=](std::size_t k) { return portable::pow(a[k], power); });
    }
    case Kind::Call: {
      const formula::Function& f = *ExpressionBuilder::node(*step.call).function;
      return each([=, &f](std::size_t k) {
        const double x[] = {a[k], b ? b[k] : 0};
        return f.value(x);
      });
    }
    case Kind::Constant:
    case Kind::Variable:
      break;  // filled in where they are read
  }
}

// From the derivative of the formula by a step to those by its operands. Every step is the operand of one other.
void Tape::pass_back(const Step& step, int index, std::size_t first, std::size_t count) {
  const double *y = value(index, first), *dy = by(index);
  const double* a = value(step.a, first);
  const double* b = step.b >= 0 ? value(step.b, first) : nullptr;
  double* da = depends(step.a) ? by(step.a) : nullptr;
  double* db = depends(step.b) ? by(step.b) : nullptr;
  const auto to = [&](double* d, auto f) {
    for (std::size_t k = 0; d && k < count; ++k) d[k] = dy[k] * f(k);
  };
  switch (step.kind) {
    case Kind::Negate:
      return to(da, [](std::size_t) { return -1.0; });
    case Kind::Add:
      to(da, [](std::size_t) { return 1.0; });
      return to(db, [](std::size_t) { return 1.0; });
    case Kind::Subtract:
      to(da, [](std::size_t) { return 1.0; });
      return to(db, [](std::size_t) { return -1.0; });
    case Kind::Multiply:
      to(da, [=](std::size_t k) { return b[k]; });
      return to(db, [=](std::size_t k) { return a[k]; });
    case Kind::Divide:
      to(da, [=](std::size_t k) { return 1 / b[k]; });
      return to(db, [=](std::size_t k) { return -y[k] / b[k]; });
    case Kind::Power:
      to(da, [=, p = step.constant, fixed = step.constant_power](std::size_t k) {
        return a[k] == 0 ? 0 : (fixed ? p : b[k]) * y[k] / a[k];
      });
      return to(db, [=](std::size_t k) { return a[k] > 0 ? y[k] * portable::log(a[k]) : 0; });
    case Kind::Call: {
      const formula::Function& f = *ExpressionBuilder::node(*step.call).function;
      if (f.arity == 2) {  // min and max
        to(da, [=](std::size_t k) { return y[k] == a[k] ? 1.0 : 0.0; });
        return to(db, [=](std::size_t k) { return y[k] == a[k] ? 0.0 : 1.0; });
      }
      if (f.name == "abs") return to(da, [=](std::size_t k) { return a[k] < 0 ? -1.0 : 1.0; });
      return to(da, [=, &f](std::size_t k) { return f.slope ? f.slope(a[k]) : 0; });
    }
    case Kind::Constant:
    case Kind::Variable:
      break;
  }
}

void Tape::run(std::size_t first, std::size_t count, const std::vector<double>& slots, double* values,
               double* derivatives) {
  const int last = static_cast<int>(steps_.size()) - 1;
  for (int index = 0; index <= last; ++index) {
    const Step& step = steps_[static_cast<std::size_t>(index)];
    if (!step.depends) continue;
    double* y = value(index, first);
    if (step.slot >= 0) {
      std::fill_n(y, count, slots[static_cast<std::size_t>(step.slot)]);
    } else {
      values_of(step, y, first, count);
    }
  }
  std::copy_n(value(last, first), count, values);
  if (!derivatives) return;

  std::fill_n(derivatives, static_cast<std::size_t>(slots_) * block, 0.0);
  if (!depends(last)) return;
  by_.resize(values_.size());
  std::fill_n(by(last), count, 1.0);
  for (int index = last; index >= 0; --index) {
    const Step& step = steps_[static_cast<std::size_t>(index)];
    if (!step.depends) continue;
    if (step.slot < 0) {
      pass_back(step, index, first, count);
    } else {
      double* d = derivatives + static_cast<std::size_t>(step.slot) * block;
      for (std::size_t k = 0; k < count; ++k) d[k] += by(index)[k];
    }
  }
}

}  // namespace nalm::fitting
