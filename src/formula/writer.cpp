#include "formula/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "formula/node.hpp"
#include "formula/readable.hpp"

namespace nalm::formula {

using Kind = Expression::Kind;

namespace {

// From the front to the back with a stack of what is still to be written: every character is written once.
class Writer {
 public:
  Writer(const Language& language, const Names& names) : language_(language), names_(names) {}

  std::string write(const Expression& expression) {
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

  static bool is_leaf(const Expression& e) { return e.operands().empty(); }

  const Rule& rule(const Expression& e) const {
    if (const Rule* special = language_.special ? language_.special(e) : nullptr) return *special;
    const std::pair<Kind, const Rule*> operators[] = {
        {Kind::Negate, &language_.negate},     {Kind::Add, &language_.add},       {Kind::Subtract, &language_.subtract},
        {Kind::Multiply, &language_.multiply}, {Kind::Divide, &language_.divide}, {Kind::Power, &language_.power}};
    for (const auto& [kind, known] : operators)
      if (kind == e.kind()) return *known;
    const auto found = std::find_if(language_.functions.begin(), language_.functions.end(),
                                    [&](const FunctionRule& f) { return f.name == e.name(); });
    return found == language_.functions.end() ? language_.function : found->rule;
  }

  Binding binding(const Expression& e) const {
    if (e.kind() == Kind::Constant) return language_.number(e.constant()).binding;
    return is_leaf(e) ? Binding::Atom : rule(e).binding;
  }

  bool fits(const Expression& e, const Place& place) const {
    return binding(e) >= place.least && (place.sign_in_front || !starts_with_sign(e));
  }

  bool starts_with_sign(const Expression& e) const {
    const Expression* first = &e;
    while (!is_leaf(*first)) {
      if (first->kind() == Kind::Negate) return true;
      const Rule& outer = rule(*first);
      first = &first->operands()[0];
      if (!outer.pattern.starts_with("$a") || binding(*first) < outer.a.least) return false;
    }
    return is_negative_constant(*first);
  }

  // What is put last is written first.
  void put(std::string_view text) { pending_.push_back({nullptr, text}); }
  void put(const Expression& e) { pending_.push_back({&e, {}}); }
  void put(const Expression& e, const Place& place) {
    const bool in_parentheses = !fits(e, place);
    if (in_parentheses) put(language_.close);
    put(e);
    if (in_parentheses) put(language_.open);
  }

  void expand(const Expression& e) {
    if (e.kind() == Kind::Constant) {
      text_ += language_.number(e.constant()).text;
    } else if (e.kind() == Kind::Variable) {
      text_ += names_.variable(e.name());
    } else {
      put_operation(e, rule(e));
    }
  }

  void put_operation(const Expression& e, const Rule& rule) {
    std::string_view rest = rule.pattern;
    for (std::size_t k = rest.rfind('$'); k != std::string_view::npos; k = rest.rfind('$')) {
      put(rest.substr(k + 2));
      if (rest[k + 1] == 'a') put(e.operands()[0], rule.a);
      if (rest[k + 1] == 'b') put(e.operands()[1], rule.b);
      if (rest[k + 1] == 'n') put(e.name());
      if (rest[k + 1] == 'f') put(names_.function);
      rest = rest.substr(0, k);
    }
    put(rest);
  }

  const Language& language_;
  const Names& names_;
  std::string text_;
  std::vector<Piece> pending_;
};

}  // namespace

std::string write(const Expression& expression, const Language& language, const Names& names) {
  return Writer(language, names).write(expression);
}

std::string shortest(double value) {
  if (std::isnan(value)) return "nan";  // a sign or payload of it has no meaning here
  // The same in every version of fmt: the fewest digits that give this number again, without an exponent from 1e-4 to
  // 1e16. People read 100000 more easily than 1e+05, but not 1e9 and more.
  std::string text = fmt::format("{}", value);
  if (const double size = std::fabs(value); size >= 1e9 && size < 1e16) {
    const std::size_t first = value < 0 ? 1 : 0, point = std::min(text.find('.'), text.size());
    text.erase(std::min(point, text.size()), 1);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.size() > first + 1) text.insert(first + 1, ".");
    text += fmt::format("e+{:02}", point - first - 1);
  }
  return text;
}

Number signed_number(double value, std::string text) {
  return {std::move(text), is_negative(value) ? Binding::Sign : Binding::Atom};
}

}  // namespace nalm::formula
