// What the formula files share about the inside of an Expression.
//
// Trees can be as deep as they are long: a sum of 100,000 terms is a chain of 100,000 nodes. So nothing in these files
// recurses over a tree or over the nesting of a text, not even the destructor, and no limit on either is needed.
#pragma once

#include <cstddef>
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

}  // namespace formula
}  // namespace nalm
