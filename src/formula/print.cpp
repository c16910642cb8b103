// The text of an expression, with no parentheses but those the parser needs to build the same tree again.
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formula/node.hpp"
#include "nalm/expression.hpp"

namespace nalm {

using Kind = Expression::Kind;

namespace {

bool is_negative(const Expression& e) {
  return e.kind() == Kind::Constant && !std::isnan(e.constant()) && std::signbit(e.constant());
}

bool is_product(const Expression& e) { return e.kind() == Kind::Multiply || e.kind() == Kind::Divide; }

Expression product(Kind kind, const Expression& a, const Expression& b) {
  return kind == Kind::Multiply ? a * b : a / b;
}

// -term, where the term has a minus sign to lose: in front, or in a negative constant that it is multiplied with or
// divided by. Rounding is symmetric, so moving a sign through products changes no bit.
std::optional<Expression> without_sign(const Expression& term) {
  std::vector<const Expression*> outer;
  const Expression* e = &term;
  while (is_product(*e) && !is_negative(e->operands()[1])) {
    outer.push_back(e);
    e = &e->operands()[0];
  }
  Expression result;
  if (is_product(*e)) {
    result = product(e->kind(), e->operands()[0], -e->operands()[1]);
  } else if (is_negative(*e) || e->kind() == Kind::Negate) {
    result = -*e;
  } else {
    return std::nullopt;
  }
  for (; !outer.empty(); outer.pop_back()) result = product(outer.back()->kind(), result, outer.back()->operands()[1]);
  return result;
}

// One node of the tree that is printed, from operands that are already readable.
Expression readable_node(const Expression& e, std::vector<Expression> x) {
  switch (e.kind()) {
    case Kind::Negate:
      return -x[0];
    case Kind::Add:
      if (const auto subtrahend = without_sign(x[1])) return x[0] - *subtrahend;
      return x[0] + x[1];
    case Kind::Subtract:
      return x[0] - x[1];
    case Kind::Multiply:
      if (x[0].is_constant(-1)) return -x[1];
      if (x[1].is_constant(-1)) return -x[0];
      return x[0] * x[1];
    case Kind::Divide:
      return x[0] / x[1];
    case Kind::Power:
      return pow(x[0], x[1]);
    case Kind::Call:
      return Expression::call(e.name(), std::move(x));
    case Kind::Constant:
    case Kind::Variable:
      break;
  }
  return e;
}

// The tree as people write it, equal in every bit of its value: a - 2*b for a + -2*b, and -a for -1*a. Doing this on
// the tree, and only then writing exactly the tree, is what makes the printed text read back as itself.
Expression readable(const Expression& expression) {
  std::vector<Expression> stack;
  formula::visit_operands_first(expression, [&](const Expression& e) {
    const auto first = stack.end() - static_cast<std::ptrdiff_t>(e.operands().size());
    std::vector<Expression> operands(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
    stack.erase(first, stack.end());
    stack.push_back(readable_node(e, std::move(operands)));
  });
  return std::move(stack.back());
}

enum Precedence { kSum = 1, kProduct, kSign, kPower, kAtom };

Precedence precedence(const Expression& e) {
  switch (e.kind()) {
    case Kind::Add:
    case Kind::Subtract:
      return kSum;
    case Kind::Multiply:
    case Kind::Divide:
      return kProduct;
    case Kind::Negate:
      return kSign;
    case Kind::Power:
      return kPower;
    case Kind::Constant:
      return is_negative(e) ? kSign : kAtom;
    case Kind::Variable:
    case Kind::Call:
      break;
  }
  return kAtom;
}

bool starts_with_sign(const Expression& e) {
  const Expression* first = &e;
  while (is_product(*first)) first = &first->operands()[0];
  return precedence(*first) == kSign;
}

class Printer {
 public:
  std::string print(const Expression& expression) {
    put(expression);
    while (!pending_.empty()) {
      const Piece piece = pending_.back();
      pending_.pop_back();
      if (piece.expression) {
        expand(*piece.expression);
      } else {
        text_ += piece.text;
      }
    }
    return std::move(text_);
  }

 private:
  struct Piece {
    const Expression* expression;
    std::string_view text;
  };

  void put(std::string_view text) { pending_.push_back({nullptr, text}); }
  void put(const Expression& e, bool in_parentheses = false) {
    if (in_parentheses) put(")");
    pending_.push_back({&e, {}});
    if (in_parentheses) put("(");
  }

  // What is put last is written first.
  void expand(const Expression& e) {
    const std::vector<Expression>& x = e.operands();
    switch (e.kind()) {
      case Kind::Constant:
        return write_number(e.constant());
      case Kind::Variable:
        return write_name(e.name());
      case Kind::Negate:
        put(x[0], precedence(x[0]) < kPower);
        return put("-");
      case Kind::Add:
        return put_sum(x, " + ");
      case Kind::Subtract:
        return put_sum(x, " - ");
      case Kind::Multiply:
        return put_product(x, "*");
      case Kind::Divide:
        return put_product(x, "/");
      case Kind::Power:
        put(x[1], precedence(x[1]) < kSign);
        put("^");
        return put(x[0], precedence(x[0]) < kAtom);
      case Kind::Call:
        return put_call(e);
    }
  }

  void put_sum(const std::vector<Expression>& x, std::string_view symbol) {
    put(x[1], precedence(x[1]) < kProduct || starts_with_sign(x[1]));
    put(symbol);
    put(x[0]);
  }

  void put_product(const std::vector<Expression>& x, std::string_view symbol) {
    put(x[1], precedence(x[1]) < kPower);
    put(symbol);
    put(x[0], precedence(x[0]) < kProduct);
  }

  void put_call(const Expression& e) {
    text_ += e.name();
    put(")");
    for (std::size_t i = e.operands().size(); i-- > 0;) {
      put(e.operands()[i]);
      put(i > 0 ? ", " : "(");
    }
  }

  void write_number(double value) {
    if (std::isnan(value)) {
      text_ += "nan";  // a sign or payload of it has no meaning here
      return;
    }
    // Either form is the shortest that reads back; people read 100000 more easily than 1e+05.
    const double size = std::fabs(value);
    const bool plain = value == 0 || (size >= 1e-4 && size < 1e9);
    std::array<char, 40> buffer;
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                       plain ? std::chars_format::fixed : std::chars_format::general);
    text_.append(buffer.data(), written.ptr);
  }

  void write_name(const std::string& name) {
    if (formula::is_plain_name(name)) {
      text_ += name;
      return;
    }
    text_ += '"';
    for (const char c : name) {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += c;
    }
    text_ += '"';
  }

  std::string text_;
  std::vector<Piece> pending_;
};

}  // namespace

std::string print(const Expression& expression) {
  const Expression tree = readable(expression);
  return Printer().print(tree);
}

}  // namespace nalm
