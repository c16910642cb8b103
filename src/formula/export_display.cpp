// Formulas to look at: LaTeX and MathML.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "formula/exports.hpp"
#include "formula/node.hpp"
#include "formula/readable.hpp"
#include "formula/writer.hpp"

namespace nalm::formula {

using Kind = Expression::Kind;

namespace {

// ---- Names --------------------------------------------------------------------------------------------------------

struct Greek {
  std::string_view name;
  std::string_view letter;
};

// Without pi, which would look like the number.
constexpr Greek kGreek[] = {
    {"alpha", "α"},  {"beta", "β"},  {"gamma", "γ"}, {"delta", "δ"}, {"epsilon", "ε"}, {"zeta", "ζ"},
    {"eta", "η"},    {"theta", "θ"}, {"iota", "ι"},  {"kappa", "κ"}, {"lambda", "λ"},  {"mu", "μ"},
    {"nu", "ν"},     {"xi", "ξ"},    {"rho", "ρ"},   {"sigma", "σ"}, {"tau", "τ"},     {"phi", "φ"},
    {"chi", "χ"},    {"psi", "ψ"},   {"omega", "ω"}, {"Gamma", "Γ"}, {"Delta", "Δ"},   {"Theta", "Θ"},
    {"Lambda", "Λ"}, {"Xi", "Ξ"},    {"Sigma", "Σ"}, {"Phi", "Φ"},   {"Psi", "Ψ"},     {"Omega", "Ω"},
};

const Greek* find_greek(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kGreek), std::end(kGreek), [&](const Greek& greek) { return greek.name == name; });
  return found == std::end(kGreek) ? nullptr : found;
}

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_number(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

// A word rather than a symbol: set upright, and not to be confused with a product of its letters or with a number.
bool is_word(std::string_view text) { return (count_characters(text) > 1 && !find_greek(text)) || is_number(text); }

struct Subscripted {
  std::string base;
  std::string subscript;
};

// m_1 and m1 have a subscript; speed_of_light and x-1 have none.
Subscripted split(const std::string& name) {
  const std::string text = name.empty() ? "?" : one_line(name);
  const std::size_t underscore = text.find('_');
  if (underscore != std::string::npos) {
    const bool is_only_one = text.find('_', underscore + 1) == std::string::npos;
    if (!is_only_one || underscore == 0 || underscore + 1 == text.size()) return {text, ""};
    return {text.substr(0, underscore), text.substr(underscore + 1)};
  }
  const std::size_t last = text.find_last_not_of("0123456789");
  if (last == std::string::npos) return {text, ""};
  const bool after_letter = is_letter(text[last]) || static_cast<unsigned char>(text[last]) >= 0x80;
  return after_letter ? Subscripted{text.substr(0, last + 1), text.substr(last + 1)} : Subscripted{text, ""};
}

std::string latex_symbol(const std::string& text) {
  if (find_greek(text)) return "\\" + text;
  std::string escaped;
  for (const char c : text) {
    const bool special = std::string_view("#$%&_{} ").find(c) != std::string_view::npos;
    escaped += c == '\\'  ? R"(\backslash{})"
               : c == '^' ? R"(\wedge{})"
               : c == '~' ? R"(\sim{})"
                          : std::string(special ? 1 : 0, '\\') + c;
  }
  return is_word(text) ? R"(\mathrm{)" + escaped + "}" : escaped;
}

std::string latex_name(const std::string& name) {
  const auto [base, subscript] = split(name);
  if (subscript.empty()) return latex_symbol(base);
  const std::string below = is_number(subscript) ? subscript : latex_symbol(subscript);
  return latex_symbol(base) + (below.size() == 1 ? "_" + below : "_{" + below + "}");
}

std::string mathml_symbol(const std::string& text) {
  const Greek* greek = find_greek(text);
  const std::string escaped = replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
  return "<mi>" + (greek ? std::string(greek->letter) : escaped) + "</mi>";
}

std::string mathml_name(const std::string& name) {
  const auto [base, subscript] = split(name);
  if (subscript.empty()) return mathml_symbol(base);
  const std::string below = is_number(subscript) ? "<mn>" + subscript + "</mn>" : mathml_symbol(subscript);
  return "<msub>" + mathml_symbol(base) + below + "</msub>";
}

// ---- Numbers ------------------------------------------------------------------------------------------------------

struct Scientific {
  std::string digits;    // empty for a power of ten
  std::string exponent;  // empty if there is none
};

Scientific scientific(double size) {
  const std::string text = shortest(size);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return {text, ""};
  const std::string digits = text.substr(0, e);
  return {digits == "1" ? "" : digits, std::to_string(std::stoi(text.substr(e + 1)))};
}

Number latex_number(double value) {
  const std::string sign = is_negative(value) ? "-" : "";
  const double size = std::abs(value);
  if (std::isnan(value)) return {R"(\mathrm{NaN})", Binding::Atom};
  if (std::isinf(value)) return signed_number(value, sign + R"(\infty)");
  if (size == std::numbers::pi) return signed_number(value, sign + R"(\pi)");
  const auto [digits, exponent] = scientific(size);
  if (exponent.empty()) return signed_number(value, sign + digits);
  return {sign + digits + (digits.empty() ? "" : R"( \cdot )") + "10^{" + exponent + "}", Binding::Product};
}

Number mathml_number(double value) {
  const std::string sign = is_negative(value) ? "<mo form=\"prefix\">&#x2212;</mo>" : "";
  const double size = std::abs(value);
  if (std::isnan(value)) return {"<mi>NaN</mi>", Binding::Atom};
  if (std::isinf(value)) return signed_number(value, sign + "<mi>&#x221E;</mi>");
  if (size == std::numbers::pi) return signed_number(value, sign + "<mi>&#x3C0;</mi>");
  const auto [digits, exponent] = scientific(size);
  const std::string front = digits.empty() ? "" : "<mn>" + digits + "</mn>";
  if (exponent.empty()) return signed_number(value, sign + front);
  const std::string times = digits.empty() ? "" : "<mo>&#x22C5;</mo>";
  const std::string power =
      exponent[0] == '-' ? "<mo form=\"prefix\">&#x2212;</mo><mn>" + exponent.substr(1) : "<mn>" + exponent;
  return {sign + front + times + "<msup><mn>10</mn><mrow>" + power + "</mn></mrow></msup>", Binding::Product};
}

// ---- Operations ---------------------------------------------------------------------------------------------------

bool is_digits(const Expression& e) { return e.kind() == Kind::Constant && std::abs(e.constant()) != std::numbers::pi; }
bool is_word(const Expression& e) { return e.kind() == Kind::Variable && is_word(split(e.name()).base); }

// 2 3^x, 2 1/3 and speed time would read as something else.
bool needs_dot(const Expression& product) {
  const Expression* left = &product.operands()[0];
  while (left->kind() == Kind::Multiply) left = &left->operands()[1];
  const Expression* right = &product.operands()[1];
  while (right->kind() == Kind::Multiply || right->kind() == Kind::Power) right = &right->operands()[0];
  const bool before_fraction = right->kind() == Kind::Divide && is_digits(right->operands()[0]);
  return is_digits(*right) || (is_digits(*left) && before_fraction) || is_word(*left) || is_word(*right);
}

bool is_square_root(const Expression& e) { return e.kind() == Kind::Power && e.operands()[1].is_constant(0.5); }

bool has_short_exponent(const Expression& e) {
  if (e.kind() != Kind::Power || e.operands()[1].kind() != Kind::Constant) return false;
  const double exponent = e.operands()[1].constant();
  return exponent >= 0 && exponent <= 9 && exponent == std::floor(exponent);
}

constexpr Rule kLatexRoot = {R"(\sqrt{$a})"};

const Rule* latex_special(const Expression& e) {
  static constexpr Rule kDot = {R"($a \cdot $b)", Binding::Product, kProduct, kTerm};
  static constexpr Rule kShortPower = {"$a^$b", Binding::Power, kAtom};
  if (e.kind() == Kind::Multiply && needs_dot(e)) return &kDot;
  if (is_square_root(e)) return &kLatexRoot;
  return has_short_exponent(e) ? &kShortPower : nullptr;
}

constexpr FunctionRule kLatexFunctions[] = {
    {"exp", {"e^{$a}", Binding::Power}},
    {"log", {R"(\ln\left($a\right))"}},
    {"sqrt", kLatexRoot},
    {"asin", {R"(\arcsin\left($a\right))"}},
    {"acos", {R"(\arccos\left($a\right))"}},
    {"sigmoid", {R"(\sigma\left($a\right))"}},
    {"abs", {R"(\left|$a\right|)"}},
    {"sign", {R"(\mathrm{sign}\left($a\right))"}},
    {"negative", {R"(\left[$a < 0\right])"}},
    {"min", {R"(\min\left($a, $b\right))"}},
    {"max", {R"(\max\left($a, $b\right))"}},
};

constexpr Language kLatex = {
    .negate = {"-$a", Binding::Sign, kTerm},
    .multiply = {"$a $b", Binding::Product, kProduct, kTerm},
    .divide = {R"(\frac{$a}{$b})", Binding::Product},
    .power = {"$a^{$b}", Binding::Power, kAtom},
    .function = {R"(\$n\left($a\right))"},
    .functions = kLatexFunctions,
    .number = latex_number,
    .special = latex_special,
    .open = R"(\left()",
    .close = R"(\right))",
};

constexpr Rule kMathMlRoot = {"<msqrt>$a</msqrt>"};

const Rule* mathml_special(const Expression& e) {
  static constexpr Rule kDot = {"$a<mo>&#x22C5;</mo>$b", Binding::Product, kProduct, kTerm};
  if (e.kind() == Kind::Multiply && needs_dot(e)) return &kDot;
  return is_square_root(e) ? &kMathMlRoot : nullptr;
}

#define NALM_MATHML_CALL(name, arguments) name "<mo>&#x2061;</mo><mrow><mo>(</mo>" arguments "<mo>)</mo></mrow>"

constexpr FunctionRule kMathMlFunctions[] = {
    {"exp", {"<msup><mi>e</mi><mrow>$a</mrow></msup>", Binding::Power}},
    {"log", {NALM_MATHML_CALL("<mi>ln</mi>", "$a")}},
    {"sqrt", kMathMlRoot},
    {"asin", {NALM_MATHML_CALL("<mi>arcsin</mi>", "$a")}},
    {"acos", {NALM_MATHML_CALL("<mi>arccos</mi>", "$a")}},
    {"sigmoid", {NALM_MATHML_CALL("<mi>&#x3C3;</mi>", "$a")}},
    {"abs", {"<mrow><mo>|</mo>$a<mo>|</mo></mrow>"}},
    {"negative", {"<mrow><mo>[</mo>$a<mo>&lt;</mo><mn>0</mn><mo>]</mo></mrow>"}},
    {"min", {NALM_MATHML_CALL("<mi>min</mi>", "$a<mo>,</mo>$b")}},
    {"max", {NALM_MATHML_CALL("<mi>max</mi>", "$a<mo>,</mo>$b")}},
};

constexpr Language kMathMl = {
    .negate = {"<mo form=\"prefix\">&#x2212;</mo>$a", Binding::Sign, kTerm},
    .add = {"$a<mo>+</mo>$b", Binding::Sum, kAnything, kTerm},
    .subtract = {"$a<mo>&#x2212;</mo>$b", Binding::Sum, kAnything, kTerm},
    .multiply = {"$a<mo>&#x2062;</mo>$b", Binding::Product, kProduct, kTerm},
    .divide = {"<mfrac><mrow>$a</mrow><mrow>$b</mrow></mfrac>", Binding::Product},
    .power = {"<msup><mrow>$a</mrow><mrow>$b</mrow></msup>", Binding::Power, kAtom},
    .function = {NALM_MATHML_CALL("<mi>$n</mi>", "$a")},
    .functions = kMathMlFunctions,
    .number = mathml_number,
    .special = mathml_special,
    .open = "<mrow><mo>(</mo>",
    .close = "<mo>)</mo></mrow>",
};

#undef NALM_MATHML_CALL

}  // namespace

std::string export_latex(const Exported& exported) {
  const Expression tree = readable(exported.formula, Minus::InFront);
  return latex_name(exported.target) + " = " + write(tree, kLatex, {latex_name, {}});
}

std::string export_mathml(const Exported& exported) {
  const Expression tree = readable(exported.formula, Minus::InFront);
  return "<math display=\"block\">" + mathml_name(exported.target) + "<mo>=</mo>" +
         write(tree, kMathMl, {mathml_name, {}}) + "</math>";
}

}  // namespace nalm::formula
