// Text to expression: operator precedence parsing with an explicit stack, so that nesting is limited by memory alone
// and everything that print writes can be read back.
//
//   sum     = product { ("+" | "-") product }
//   product = signed { ("*" | "/") signed }
//   signed  = { "-" | "+" } power
//   power   = atom [ "^" signed ]
//   atom    = number | name | "quoted name" | function "(" sum { "," sum } ")" | "(" sum ")"
#include <algorithm>
#include <cstddef>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "formula/node.hpp"
#include "nalm/expression.hpp"

namespace nalm {
namespace {

using formula::Function;
using formula::is_digit;
using formula::is_letter;

constexpr char kMinusSign = '~';  // tells the sign from the subtraction on the stack

// Everything below 1 stays on the stack until its ")".
int precedence(char symbol) {
  if (symbol == '+' || symbol == '-') return 1;
  if (symbol == '*' || symbol == '/') return 2;
  return symbol == kMinusSign ? 3 : symbol == '^' ? 4 : 0;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool is_binary_operator(char c) { return c != kMinusSign && precedence(c) > 0; }
bool starts_atom(char c) { return is_letter(c) || is_digit(c) || c == '"' || c == '('; }

// Other spellings of functions. Without a "(" behind them they are names of variables.
std::string_view usual_name(std::string_view name) {
  if (name == "ln") return "log";
  if (name == "arcsin") return "asin";
  return name == "arccos" ? "acos" : name;
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Expression> run() {
    while (read_operand() && read_operators()) {
    }
    if (error_) return *std::move(error_);
    return std::move(operands_.back());
  }

 private:
  // An operator that waits for its right operand, or a "(" that waits for its ")".
  struct Pending {
    char symbol;
    std::size_t position;
    const Function* function = nullptr;
    std::size_t arguments = 1;
  };

  // Reads up to the end of one atom; false on an error.
  bool read_operand() {
    for (;;) {
      skip_space();
      const char c = peek();
      if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
      if (c == '"') return read_quoted_name();
      if (is_letter(c)) {
        const std::size_t start = position_;
        const std::string_view name = read_name();
        skip_space();
        const Function* function = formula::find_function(peek() == '(' ? usual_name(name) : name);
        if (!function && peek() == '(' && !is_reserved(name)) return fail_unknown_function(start, name);
        if (!function) return push_named(name);
        if (peek() != '(') return fail_function_alone(name);
        pending_.push_back({'(', position_, function});
      } else if (c == '(') {
        pending_.push_back({'(', position_});
      } else if (c == '-') {
        pending_.push_back({kMinusSign, position_});
      } else if (c != '+') {
        return fail_no_operand();
      }
      last_ = text_[position_++];
    }
  }

  // Reads what may follow an atom; true when another operand must come next, false at the end or on an error.
  bool read_operators() {
    for (;;) {
      skip_space();
      const char c = peek();
      if (at_end()) return finish();
      if (c == ')') {
        if (!close()) return false;
        ++position_;
        continue;
      }
      if (c == ',') {
        reduce(1);
        if (pending_.empty() || !pending_.back().function) return fail_comma();
        ++pending_.back().arguments;
      } else if (is_binary_operator(c)) {
        const bool right_associative = c == '^';
        reduce(precedence(c) + (right_associative ? 1 : 0));
        pending_.push_back({c, position_});
      } else {
        return fail_no_operator();
      }
      last_ = text_[position_++];
      return true;
    }
  }

  bool read_number() {
    const ReadNumber number = nalm::read_number(text_.substr(position_));
    if (!number.in_range) {
      return fail(position_, "the number " + std::string(shortened(text_.substr(position_, number.length))) +
                                 " is outside the range of a double, 4.9e-324 to 1.8e+308; write 0 or inf instead");
    }
    position_ += number.length;
    operands_.push_back(number.value);
    return true;
  }

  std::string_view read_name() {
    const std::size_t start = position_;
    while (is_letter(peek()) || is_digit(peek())) ++position_;
    return text_.substr(start, position_ - start);
  }

  bool read_quoted_name() {
    const std::size_t start = position_++;
    std::string name;
    for (; !at_end() && peek() != '"'; ++position_) {
      if (peek() == '\\') {
        const char escaped = peek(1);
        if (escaped != '"' && escaped != '\\') {
          return fail(position_,
                      R"(in a quoted name a \ must be followed by " or \; write \\ for the character itself)");
        }
        ++position_;
      }
      name += peek();
    }
    if (at_end()) return fail(position_, "the name that starts in column " + column(start) + " needs a closing \"");
    ++position_;
    operands_.push_back(Expression::variable(std::move(name)));
    return true;
  }

  static bool is_reserved(std::string_view name) { return name == "inf" || name == "nan" || name == "pi"; }

  bool push_named(std::string_view name) {
    if (name == "inf") {
      operands_.push_back(std::numeric_limits<double>::infinity());
    } else if (name == "nan") {
      operands_.push_back(std::numeric_limits<double>::quiet_NaN());
    } else if (name == "pi") {
      operands_.push_back(std::numbers::pi);
    } else {
      operands_.push_back(Expression::variable(std::string(name)));
    }
    return true;
  }

  // Carries out the waiting operators that bind at least this tightly.
  void reduce(int least) {
    for (; !pending_.empty() && precedence(pending_.back().symbol) >= least; pending_.pop_back()) {
      const Expression right = std::move(operands_.back());
      operands_.pop_back();
      if (pending_.back().symbol == kMinusSign) {
        operands_.push_back(-right);
      } else {
        operands_.back() = combine(pending_.back().symbol, operands_.back(), right);
      }
    }
  }

  static Expression combine(char symbol, const Expression& a, const Expression& b) {
    if (symbol == '+') return a + b;
    if (symbol == '-') return a - b;
    if (symbol == '*') return a * b;
    return symbol == '/' ? a / b : pow(a, b);
  }

  bool close() {
    reduce(1);
    if (pending_.empty()) return fail(position_, "there is no \"(\" for this \")\"; remove it");
    const Pending group = pending_.back();
    pending_.pop_back();
    if (!group.function) return true;
    if (group.arguments != group.function->arity) return fail_arguments(group);
    const auto first = operands_.end() - static_cast<std::ptrdiff_t>(group.arguments);
    std::vector<Expression> arguments(std::make_move_iterator(first), std::make_move_iterator(operands_.end()));
    operands_.erase(first, operands_.end());
    operands_.push_back(formula::call(group.function->name, std::move(arguments)));
    return true;
  }

  // False, because nothing is left to read.
  bool finish() {
    reduce(1);
    if (pending_.empty()) return false;
    return fail(position_, "the \"(\" in column " + column(pending_.back().position) + " needs a closing \")\"");
  }

  bool fail(std::size_t position, const std::string& message) {
    error_ = Error{"column " + column(position) + ": " + message};
    return false;
  }

  bool fail_no_operand() {
    std::string message = R"(expected a number, a name or "(" )";
    message += last_ ? "after " + quoted({&last_, 1}) : "at the start";
    if (!at_end()) message += ", not " + found();
    if (last_ == '*' && peek() == '*') message += "; write ^ for a power";
    return fail(position_, message);
  }

  bool fail_no_operator() {
    reduce(1);
    std::string message = "expected one of + - * / ^ or ";
    if (pending_.empty()) {
      message += "the end";
    } else {
      message += pending_.back().function ? "\",\" or \")\"" : "\")\"";
    }
    message += ", not " + found();
    if (starts_atom(peek())) message += "; write * to multiply";
    return fail(position_, message);
  }

  bool fail_comma() {
    return fail(position_, "a \",\" can only separate the arguments of a function; a decimal point is written \".\"");
  }

  bool fail_unknown_function(std::size_t start, std::string_view name) {
    std::string known;
    for (const std::string_view function : function_names()) {
      if (!known.empty()) known += ", ";
      known += function;
    }
    return fail(start, "unknown function " + quoted(shortened(name)) + "; the functions are " + known +
                           ", a power is a^b and a product a*b");
  }

  bool fail_function_alone(std::string_view name) {
    return fail(position_, "expected \"(\" after the function " + std::string(name) +
                               "; a variable of that name is written in double quotes, " + quoted(name));
  }

  bool fail_arguments(const Pending& group) {
    const bool one = group.function->arity == 1;
    const std::string name(group.function->name);
    return fail(position_, name + (one ? " takes 1 argument, as in " : " takes 2 arguments, as in ") + name +
                               (one ? "(a)" : "(a, b)") + ", not " + std::to_string(group.arguments));
  }

  // What stands at the position, in a form that can be shown: a word, a character or the code of a byte.
  std::string found() const {
    const std::string_view rest = text_.substr(position_);
    const auto byte = static_cast<unsigned char>(rest[0]);
    std::size_t length = 1;
    if (is_letter(rest[0]) || is_digit(rest[0])) {
      while (length < rest.size() && (is_letter(rest[length]) || is_digit(rest[length]))) ++length;
    } else if (byte >= 0xC2 && byte <= 0xF4) {
      const std::size_t expected = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
      while (length < rest.size() && length < expected && continues_character(rest[length])) ++length;
      if (length < expected) return byte_code(byte);
    } else if (byte < 0x20 || byte >= 0x7F) {
      return byte_code(byte);
    }
    return quoted(shortened(rest.substr(0, length)));
  }

  static std::string byte_code(unsigned char byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    return std::string("the byte 0x") + kDigits[byte / 16] + kDigits[byte % 16];
  }

  static std::string shortened(std::string_view text) {
    constexpr std::size_t kLongest = 40;
    std::string start(text.substr(0, kLongest));
    if (text.size() > kLongest) start += "...";
    return start;
  }

  // Counts characters of UTF-8 from 1, as an editor does.
  std::string column(std::size_t position) const {
    const std::string_view before = text_.substr(0, position);
    return std::to_string(before.size() + 1 -
                          static_cast<std::size_t>(std::count_if(before.begin(), before.end(), continues_character)));
  }

  bool at_end() const { return position_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0'; }
  void skip_space() {
    while (is_space(peek())) ++position_;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  char last_ = '\0';  // the symbol before the operand that is expected
  std::vector<Pending> pending_;
  std::vector<Expression> operands_;
  std::optional<Error> error_;
};

}  // namespace

Result<Expression> parse_expression(std::string_view text) { return Parser(text).run(); }

}  // namespace nalm
