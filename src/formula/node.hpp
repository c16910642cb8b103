// What the formula files share about the inside of an Expression.
//
// Trees can be as deep as they are long: a sum of 100,000 terms is a chain of 100,000 nodes. So nothing in these files
// recurses over a tree or over the nesting of a text, not even the destructor, and no limit on either is needed.
#pragma once

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/expression.hpp"

namespace nalm {

namespace formula {

struct Function {
  std::string_view name;
  std::size_t arity;
  double (*value)(const double* arguments);
  double (*slope)(double argument);  // the derivative; null for min and max, and for the steps sign and negative
};

const Function* find_function(std::string_view name);  // null when there is none

// Expression::call for a function and a number of arguments that are known to be right.
Expression call(std::string_view function, std::vector<Expression> arguments);

// True for what can be written without quotes as the name of a variable: an identifier with no other meaning.
bool is_plain_name(std::string_view name);

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace formula

struct Expression::Node {
  Kind kind = Kind::Constant;
  double constant = 0;
  std::string name;
  const formula::Function* function = nullptr;
  std::vector<Expression> operands;

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();
};

struct ExpressionBuilder {
  static Expression constant(double value);
  static Expression variable(std::string name);
  static Expression operation(Expression::Kind kind, std::vector<Expression> operands);
  static Expression call(const formula::Function& function, std::vector<Expression> arguments);
  static const Expression::Node& node(const Expression& expression);
};

namespace formula {

// What an operator makes of its operands, be they numbers or trees.
template <class T>
T combined(Expression::Kind kind, const T* x) {
  using std::pow;
  switch (kind) {
    case Expression::Kind::Negate:
      return -x[0];
    case Expression::Kind::Add:
      return x[0] + x[1];
    case Expression::Kind::Subtract:
      return x[0] - x[1];
    case Expression::Kind::Multiply:
      return x[0] * x[1];
    case Expression::Kind::Divide:
      return x[0] / x[1];
    default:
      return pow(x[0], x[1]);
  }
}

// Calls visit(node) for every node, operands before their operation and left before right. A subtree that is shared
// is visited once for each of its uses.
template <class Visit>
void visit_operands_first(const Expression& root, Visit&& visit) {
  struct Step {
    const Expression* expression;
    std::size_t next_operand;
  };
  std::vector<Step> path{{&root, 0}};
  while (!path.empty()) {
    Step& step = path.back();
    const std::vector<Expression>& operands = step.expression->operands();
    if (step.next_operand < operands.size()) {
      const Expression* operand = &operands[step.next_operand++];
      path.push_back({operand, 0});
    } else {
      visit(*step.expression);
      path.pop_back();
    }
  }
}

// A node like this one of other operands, simplified as the operators do it.
inline Expression with_operands(const Expression& e, std::vector<Expression> x) {
  if (x.empty()) return e;
  return e.kind() == Expression::Kind::Call ? call(e.name(), std::move(x)) : combined(e.kind(), x.data());
}

// The tree with every node replaced by replace(node, operands that have been replaced).
template <class Replace>
Expression rebuilt(const Expression& expression, Replace replace) {
  std::vector<Expression> stack;
  visit_operands_first(expression, [&](const Expression& e) {
    const auto first = stack.end() - static_cast<std::ptrdiff_t>(e.operands().size());
    std::vector<Expression> operands(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
    stack.erase(first, stack.end());
    stack.push_back(replace(e, std::move(operands)));
  });
  return std::move(stack.back());
}

}  // namespace formula
}  // namespace nalm
