#include "formula/rewrite.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <utility>

#include "formula/node.hpp"

namespace nalm {
Expression rewrite(const Expression& root, const std::function<std::optional<Expression>(const Expression&)>& f) {
  return formula::rebuilt(root, [&](const Expression& e, std::vector<Expression> operands) {
    const std::optional<Expression> replacement = f(e);
    return replacement ? *replacement : formula::with_operands(e, std::move(operands));
  });
}

Expression in_digits(const Expression& root, int digits) {
  return rewrite(root, [&](const Expression& e) -> std::optional<Expression> {
    if (e.kind() != Expression::Kind::Constant) return std::nullopt;
    const std::string text = fmt::format("{:.{}g}", e.constant(), digits);
    double value = e.constant();
    std::from_chars(text.data(), text.data() + text.size(), value);
    return Expression(value);
  });
}

}  // namespace nalm
