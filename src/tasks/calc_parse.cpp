// Text to postfix order: Dijkstra's shunting-yard. Nothing is computed here, and nothing is learnt.
#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "tasks/calculator.hpp"

namespace nalm {
namespace {

using CalcKind = CalcToken::Kind;

constexpr std::string_view root_sign = "\u221A", minus_sign = "\u2212";

int precedence(CalcKind kind) {
  if (kind == CalcKind::Add || kind == CalcKind::Subtract) return 1;
  if (kind == CalcKind::Multiply || kind == CalcKind::Divide) return 2;
  return kind == CalcKind::Negate ? 3 : 4;
}

// An operator, and the bytes it takes.
struct Operator {
  CalcKind kind;
  std::size_t length = 1;
};
std::optional<Operator> binary_operator(std::string_view text) {
  constexpr std::pair<std::string_view, CalcKind> signs[] = {
      {"+", CalcKind::Add},           {"-", CalcKind::Subtract},    {"*", CalcKind::Multiply},
      {"/", CalcKind::Divide},        {"^", CalcKind::Power},       {"\u00D7", CalcKind::Multiply},
      {"\u00B7", CalcKind::Multiply}, {"\u00F7", CalcKind::Divide}, {minus_sign, CalcKind::Subtract}};
  for (const auto& [sign, kind] : signs)
    if (text.starts_with(sign)) return Operator{kind, sign.size()};
  return {};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::variant<std::vector<CalcToken>, CalcMistake> run() {
    const auto characters = std::count_if(text_.begin(), text_.end(), [](char c) { return (c & 0xC0) != 0x80; });
    if (static_cast<std::size_t>(characters) > longest_calculation) {
      return CalcMistake{longest_calculation,
                         fmt::format("the calculation has {} characters, and at most {} are read; split it in parts.",
                                     characters, longest_calculation)};
    }
    while (read_operand() && read_operators()) {
    }
    if (mistake_) return *std::move(mistake_);
    return std::move(postfix_);
  }

 private:
  // An operator that waits for its right operand, or a parenthesis that waits for its end.
  struct Pending {
    std::optional<CalcKind> kind;  // none: a parenthesis
    std::size_t position = 0;
    bool root = false;  // a parenthesis of sqrt
  };

  // Reads up to the end of a number; false on a mistake.
  bool read_operand() {
    for (;;) {
      skip_space();
      const char c = peek();
      if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
      if (text_.substr(position_).starts_with("sqrt")) {
        const std::size_t start = position_;
        position_ += 4;
        skip_space();
        if (peek() != '(') return fail(position_, "sqrt needs its number in parentheses, as in sqrt(2).");
        if (!wait({{}, start, true})) return false;
        ++position_;
      } else if (text_.substr(position_).starts_with(root_sign)) {
        if (!wait({CalcKind::Root, position_, false})) return false;
        position_ += root_sign.size();
      } else if (c == '(' || c == '-') {
        if (!wait({c == '-' ? std::optional(CalcKind::Negate) : std::nullopt, position_, false})) return false;
        ++position_;
      } else if (text_.substr(position_).starts_with(minus_sign)) {
        if (!wait({CalcKind::Negate, position_, false})) return false;
        position_ += minus_sign.size();
      } else if (c == '+') {
        ++position_;
      } else {
        return fail_no_operand();
      }
    }
  }

  // Reads what may follow a number; true when another one must come next, false at the end or on a mistake.
  bool read_operators() {
    for (;;) {
      skip_space();
      if (at_end()) return finish();
      if (peek() == ')') {
        if (!close()) return false;
        ++position_;
        continue;
      }
      const std::optional<Operator> op = binary_operator(text_.substr(position_));
      if (!op) return fail_no_operator();
      reduce(precedence(op->kind) + (op->kind == CalcKind::Power ? 1 : 0));  // ^ associates to the right
      if (!wait({op->kind, position_, false})) return false;
      position_ += op->length;
      return true;
    }
  }

  bool read_number() {
    const ReadNumber number = nalm::read_number(text_.substr(position_));
    if (!number.in_range)
      return fail(position_, "this number is outside the range of a double, 4.9e-324 to 1.8e+308; use one inside it.");
    postfix_.push_back({CalcKind::Number, number.value, position_});
    position_ += number.length;
    return true;
  }

  bool wait(const Pending& pending) {
    if (pending_.size() >= deepest_calculation)
      return fail(pending.position, fmt::format("more than {} operators and parentheses are open here; split the "
                                                "calculation in parts.",
                                                deepest_calculation));
    pending_.push_back(pending);
    return true;
  }

  // The waiting operators that bind at least this tightly have both operands now.
  void reduce(int least) {
    while (!pending_.empty() && pending_.back().kind && precedence(*pending_.back().kind) >= least) {
      postfix_.push_back({*pending_.back().kind, 0, pending_.back().position});
      pending_.pop_back();
    }
  }

  bool close() {
    reduce(1);
    if (pending_.empty()) return fail(position_, "there is no \"(\" for this \")\"; remove it.");
    if (pending_.back().root) postfix_.push_back({CalcKind::Root, 0, pending_.back().position});
    pending_.pop_back();
    return true;
  }

  // False, because nothing is left to read.
  bool finish() {
    reduce(1);
    if (pending_.empty()) return false;
    return fail(pending_.back().position, "this needs a closing \")\".");
  }

  bool fail(std::size_t position, std::string sentence) {
    mistake_ = CalcMistake{position, std::move(sentence)};
    return false;
  }

  bool fail_no_operand() {
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos)
      return fail(0, "there is nothing to calculate; write something like \"3 + 4 * (2 - 1)^2 / 7\".");
    if (at_end()) return fail(position_, "a number is missing at the end.");
    if (peek() == ')') return fail(position_, "a number is missing before this \")\".");
    if (is_letter(peek())) return fail(position_, "names have no value here; there are numbers and sqrt(...).");
    return fail(position_, peek() == '*' && position_ > 0 && text_[position_ - 1] == '*'
                               ? "a power is written with ^, as in 2^3."
                               : "a number, a sign, \"(\" or \"sqrt(\" must stand here.");
  }

  bool fail_no_operator() {
    const bool product = is_letter(peek()) || is_digit(peek()) || peek() == '(' || peek() == '.' ||
                         text_.substr(position_).starts_with(root_sign);
    if (peek() == ',' && is_digit(peek(1))) return fail(position_, "decimals are written with a point, as in 1.5.");
    return fail(position_, product ? "an operator is missing here; write * to multiply."
                                   : "one of + - * / ^ or \")\" must stand here, or the end.");
  }

  bool at_end() const { return position_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0'; }
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++position_;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<Pending> pending_;
  std::vector<CalcToken> postfix_;
  std::optional<CalcMistake> mistake_;
};

}  // namespace

std::variant<std::vector<CalcToken>, CalcMistake> parse_calculation(std::string_view text) {
  return Parser(text).run();
}

}  // namespace nalm
