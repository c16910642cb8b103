#include "fit/tape.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "formula/node.hpp"

namespace nalm::fitting {

using Kind = Expression::Kind;

std::string slot_name(int slot) { return std::string("\x01") + std::to_string(slot); }

int slot_number(const std::string& name) {
  return name.size() > 1 && name[0] == '\x01' ? std::stoi(name.substr(1)) : -1;
}

Expression fill_slots(const Expression& formula, const std::vector<double>& values) {
  std::vector<Expression> stack;
  formula::visit_operands_first(formula, [&](const Expression& e) {
    const std::size_t first = stack.size() - e.operands().size();
    std::vector<Expression> x(std::make_move_iterator(stack.begin() + static_cast<std::ptrdiff_t>(first)),
                              std::make_move_iterator(stack.end()));
    stack.resize(first);
    switch (e.kind()) {
      case Kind::Variable: {
        const int slot = slot_number(e.name());
        stack.push_back(slot < 0 ? e : Expression(values[static_cast<std::size_t>(slot)]));
        break;
      }
      case Kind::Negate:
        stack.push_back(-x[0]);
        break;
      case Kind::Add:
        stack.push_back(x[0] + x[1]);
        break;
      case Kind::Subtract:
        stack.push_back(x[0] - x[1]);
        break;
      case Kind::Multiply:
        stack.push_back(x[0] * x[1]);
        break;
      case Kind::Divide:
        stack.push_back(x[0] / x[1]);
        break;
      case Kind::Power:
        stack.push_back(pow(x[0], x[1]));
        break;
      case Kind::Call:
        stack.push_back(Expression::call(e.name(), std::move(x)));
        break;
      case Kind::Constant:
        stack.push_back(e);
        break;
    }
  });
  return stack.back();
}

Tape::Tape(const Expression& formula, const std::vector<std::string>& columns, int slots)
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
      step.depends = steps_[static_cast<std::size_t>(step.a)].depends ||
                     (step.b >= 0 && steps_[static_cast<std::size_t>(step.b)].depends);
    }
    stack.push_back(static_cast<int>(steps_.size()));
    steps_.push_back(step);
  });
  values_.resize(steps_.size() * block);
}

void Tape::values_of(const Step& step, std::size_t index, std::size_t count) {
  double* y = value(static_cast<int>(index));
  const double* a = step.a >= 0 ? value(step.a) : nullptr;
  const double* b = step.b >= 0 ? value(step.b) : nullptr;
  switch (step.kind) {
    case Kind::Negate:
      for (std::size_t k = 0; k < count; ++k) y[k] = -a[k];
      break;
    case Kind::Add:
      for (std::size_t k = 0; k < count; ++k) y[k] = a[k] + b[k];
      break;
    case Kind::Subtract:
      for (std::size_t k = 0; k < count; ++k) y[k] = a[k] - b[k];
      break;
    case Kind::Multiply:
      for (std::size_t k = 0; k < count; ++k) y[k] = a[k] * b[k];
      break;
    case Kind::Divide:
      for (std::size_t k = 0; k < count; ++k) y[k] = a[k] / b[k];
      break;
    case Kind::Power:
      if (steps_[static_cast<std::size_t>(step.b)].constant == 2) {  // other kinds of operands have constant 0
        for (std::size_t k = 0; k < count; ++k) y[k] = a[k] * a[k];
      } else {
        for (std::size_t k = 0; k < count; ++k) y[k] = std::pow(a[k], b[k]);
      }
      break;
    case Kind::Call: {
      const formula::Function& f = *ExpressionBuilder::node(*step.call).function;
      for (std::size_t k = 0; k < count; ++k) {
        const double x[] = {a[k], b ? b[k] : 0};
        y[k] = f.value(x);
      }
      break;
    }
    case Kind::Constant:
    case Kind::Variable:
      break;  // filled in by run()
  }
}

void Tape::derivatives_of(const Step& step, std::size_t index, std::size_t count) {
  const double* y = value(static_cast<int>(index));
  const double* a = step.a >= 0 ? value(step.a) : nullptr;
  const double* b = step.b >= 0 ? value(step.b) : nullptr;
  const bool a_depends = step.a >= 0 && steps_[static_cast<std::size_t>(step.a)].depends;
  const bool b_depends = step.b >= 0 && steps_[static_cast<std::size_t>(step.b)].depends;
  // dy = by_a * da + by_b * db
  double by_a[block], by_b[block];
  for (std::size_t k = 0; k < count; ++k) {
    switch (step.kind) {
      case Kind::Negate:
        by_a[k] = -1;
        break;
      case Kind::Add:
        by_a[k] = by_b[k] = 1;
        break;
      case Kind::Subtract:
        by_a[k] = 1, by_b[k] = -1;
        break;
      case Kind::Multiply:
        by_a[k] = b[k], by_b[k] = a[k];
        break;
      case Kind::Divide:
        by_a[k] = 1 / b[k], by_b[k] = -y[k] / b[k];
        break;
      case Kind::Power:
        by_a[k] = a[k] == 0 ? 0 : b[k] * y[k] / a[k];
        by_b[k] = a[k] > 0 ? y[k] * std::log(a[k]) : 0;
        break;
      case Kind::Call: {
        const formula::Function& f = *ExpressionBuilder::node(*step.call).function;
        if (f.arity == 2) {
          by_a[k] = y[k] == a[k] ? 1 : 0;  // min and max
          by_b[k] = 1 - by_a[k];
        } else if (f.name == "abs") {
          by_a[k] = a[k] < 0 ? -1 : 1;
        } else {
          by_a[k] = f.slope ? f.slope(a[k]) : 0;
        }
        break;
      }
      case Kind::Constant:
      case Kind::Variable:
        break;
    }
  }
  for (int s = 0; s < slots_; ++s) {
    double* dy = derivative(static_cast<int>(index), s);
    const double* da = a_depends ? derivative(step.a, s) : nullptr;
    const double* db = b_depends ? derivative(step.b, s) : nullptr;
    for (std::size_t k = 0; k < count; ++k) dy[k] = (da ? by_a[k] * da[k] : 0) + (db ? by_b[k] * db[k] : 0);
  }
}

void Tape::run(const double* const* rows, std::size_t count, const std::vector<double>& slots, double* values,
               double* derivatives) {
  if (derivatives && derivatives_.empty()) {
    derivatives_.resize(steps_.size() * static_cast<std::size_t>(slots_) * block);
  }
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    const Step& step = steps_[index];
    if (step.kind == Kind::Constant || step.kind == Kind::Variable) {
      double* y = value(static_cast<int>(index));
      if (step.column >= 0) {
        for (std::size_t k = 0; k < count; ++k) y[k] = rows[k][step.column];
      } else {
        std::fill_n(y, count, step.slot >= 0 ? slots[static_cast<std::size_t>(step.slot)] : step.constant);
      }
      for (int s = 0; derivatives && step.depends && s < slots_; ++s) {
        std::fill_n(derivative(static_cast<int>(index), s), count, s == step.slot ? 1.0 : 0.0);
      }
    } else {
      values_of(step, index, count);
      if (derivatives && step.depends) derivatives_of(step, index, count);
    }
  }
  const int last = static_cast<int>(steps_.size()) - 1;
  std::copy_n(value(last), count, values);
  for (int s = 0; derivatives && s < slots_; ++s) {
    if (steps_.back().depends) {
      std::copy_n(derivative(last, s), count, derivatives + static_cast<std::size_t>(s) * block);
    } else {
      std::fill_n(derivatives + static_cast<std::size_t>(s) * block, count, 0.0);
    }
  }
}

}  // namespace nalm::fitting
