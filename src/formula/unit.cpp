#include "formula/unit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "formula/known_units.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::formula {

namespace {

// ---- arithmetic ----------------------------------------------------------------------------------------------------

constexpr int largest_part = 10000;  // of a fraction: nobody means more, and sums of a few still fit

std::optional<Fraction> reduced(long long numerator, long long denominator) {
  if (denominator < 0) numerator = -numerator, denominator = -denominator;
  const long long common = std::gcd(numerator, denominator);
  numerator /= common, denominator /= common;
  if (std::llabs(numerator) > largest_part || denominator > largest_part) return std::nullopt;
  return Fraction{static_cast<int>(numerator), static_cast<int>(denominator)};
}

std::optional<Fraction> plus(Fraction a, Fraction b, Fraction times) {
  const auto product = reduced(1LL * b.numerator * times.numerator, 1LL * b.denominator * times.denominator);
  if (!product) return std::nullopt;
  return reduced(1LL * a.numerator * product->denominator + 1LL * product->numerator * a.denominator,
                 1LL * a.denominator * product->denominator);
}

// to * unit^power; false where powers become too large.
bool multiply(Unit& to, const Unit& unit, Fraction power) {
  for (std::size_t k = 0; k < base_units; ++k) {
    const std::optional<Fraction> sum = plus(to.powers[k], unit.powers[k], power);
    if (!sum) return false;
    to.powers[k] = *sum;
  }
  to.scale *= portable::pow(unit.scale, power.value());
  for (const auto& symbol : unit.symbols) {
    const auto same = std::find_if(to.symbols.begin(), to.symbols.end(),
                                   [&name = symbol.first](const auto& other) { return other.first == name; });
    const std::optional<Fraction> sum =
        plus(same == to.symbols.end() ? Fraction{} : same->second, symbol.second, power);
    if (!sum) return false;
    if (same == to.symbols.end()) {
      to.symbols.emplace_back(symbol.first, *sum);
    } else {
      same->second = *sum;
    }
  }
  std::erase_if(to.symbols, [](const auto& symbol) { return symbol.second.numerator == 0; });
  return to.scale > 1e-200 && to.scale < 1e200;
}

// ---- reading -------------------------------------------------------------------------------------------------------

constexpr std::size_t longest_unit = 200;
constexpr std::string_view what_units_may_be =
    "write units such as kg, m/s^2, kWh, W/(m^2*K) or °C, and 1 for a pure number";
constexpr int deepest = 8;
constexpr std::string_view superscripts[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
constexpr std::string_view superscript_minus = "⁻";

class UnitParser {
 public:
  explicit UnitParser(std::string_view text) : text_(text) {}

  Result<Unit> whole() {
    Result<Unit> unit = quotient(0);
    if (unit && at_ < text_.size()) return wrong(fmt::format("\"{}\" is not expected there", rest()));
    return unit;
  }

 private:
  std::string rest() const { return std::string(text_.substr(at_)); }
  static Error wrong(const std::string& what) { return Error{what}; }

  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool blanks() {
    const std::size_t before = at_;
    while (take(" ") || take("\t")) {
    }
    return at_ > before;
  }
  bool ends() const { return at_ >= text_.size() || text_[at_] == ')'; }

  // Between two factors: *, a dot, or nothing but space.
  bool times() {
    const bool space = blanks();
    for (const std::string_view sign : {"*", ".", "·", "⋅", "×"}) {
      if (text_.substr(at_).starts_with("**")) return false;
      if (!take(sign)) continue;
      blanks();
      return true;
    }
    return space && !ends() && text_[at_] != '/';
  }

  Result<Unit> quotient(int depth) {
    Unit result;
    bool below = false;
    blanks();
    for (;;) {
      const Result<Unit> next = factor(depth);
      if (!next) return next;
      if (!multiply(result, *next, {below ? -1 : 1, 1})) return wrong("its powers are too large");
      if (times()) {
        if (below) return wrong("what is below the slash is not clear without brackets");
        continue;
      }
      if (!take("/")) return result;
      below = true;
      blanks();
    }
  }

  Result<Unit> factor(int depth) {
    Unit unit;
    if (take("(")) {
      if (depth >= deepest) return wrong("it has too many brackets");
      const Result<Unit> inner = quotient(depth + 1);
      if (!inner) return inner;
      if (!take(")")) return wrong("a bracket is not closed");
      unit = *inner;
    } else if (take("1")) {
      return unit;
    } else {
      const std::size_t first = at_;
      while (!ends() && is_letter()) at_ += std::max<std::size_t>(1, utf8_length(text_, at_));
      const std::string_view name = text_.substr(first, at_ - first);
      if (name.empty())
        return wrong(at_ < text_.size() ? fmt::format("\"{}\" is not expected there", rest())
                                        : std::string("a unit is missing at its end"));
      const std::optional<Unit> known = find_unit(name);
      if (!known) return wrong(fmt::format("there is no unit \"{}\"{}", name, unit_meant(name)));
      unit = *known;
    }
    const Result<Fraction> power = exponent();
    if (!power) return power.error();
    Unit raised;
    if (!multiply(raised, unit, *power)) return wrong("its powers are too large");
    return raised;
  }

  bool is_letter() const {
    const std::string_view left = text_.substr(at_);
    const char c = left.front();
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%') return true;
    if (static_cast<unsigned char>(c) < 0x80) return false;
    for (const std::string_view other : {"·", "⋅", "×"})
      if (left.starts_with(other)) return false;
    for (const std::string_view digit : superscripts)
      if (left.starts_with(digit)) return false;
    return !left.starts_with(superscript_minus);
  }

  // Digits, as plain ones or raised.
  std::optional<long long> digits(bool raised) {
    long long value = 0;
    int count = 0;
    for (bool found = true; found && count <= 5;) {
      found = false;
      for (int digit = 0; digit < 10; ++digit) {
        const char plain[] = {static_cast<char>('0' + digit)};
        if (!take(raised ? superscripts[digit] : std::string_view(plain, 1))) continue;
        value = 10 * value + digit;
        ++count;
        found = true;
        break;
      }
    }
    return count > 0 && count <= 5 ? std::optional(value) : std::nullopt;
  }

  Result<Fraction> exponent() {
    const Error bad = wrong("a power is a whole number or a fraction, such as ^2, ^-1, ^0.5 or ^(1/2)");
    const bool marked = take("^") || take("**");
    const bool brackets = marked && take("(");
    const bool raised = !marked && (text_.substr(at_).starts_with(superscript_minus) ||
                                    std::any_of(std::begin(superscripts), std::end(superscripts),
                                                [&](std::string_view s) { return text_.substr(at_).starts_with(s); }));
    const bool digit = at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
    const bool sign = at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+');
    if (!marked && !raised && !digit && !sign) return Fraction{1, 1};
    const bool minus = take("-") || take(superscript_minus);
    if (!minus) take("+");
    const std::optional<long long> whole = digits(raised);
    if (!whole) return bad;
    long long numerator = *whole, denominator = 1;
    if (marked && take(".")) {
      const std::size_t first = at_;
      const std::optional<long long> part = digits(false);
      if (!part) return bad;
      for (std::size_t k = first; k < at_; ++k) denominator *= 10;
      numerator = numerator * denominator + *part;
    } else if (brackets && take("/")) {
      const std::optional<long long> below = digits(false);
      if (!below || *below == 0) return bad;
      denominator = *below;
    }
    if (brackets && !take(")")) return bad;
    const std::optional<Fraction> power = reduced(minus ? -numerator : numerator, denominator);
    if (!power || power->numerator == 0) return bad;
    return *power;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

std::string power_text(double power) {
  if (power == 1) return "";
  for (int denominator = 1; denominator <= 12; ++denominator) {
    const double numerator = std::round(power * denominator);
    if (std::fabs(power * denominator - numerator) > 1e-9) continue;
    if (denominator == 1) return fmt::format("^{:.0f}", numerator);
    return fmt::format("^({:.0f}/{})", numerator, denominator);
  }
  return fmt::format("^{:.4g}", power);
}

}  // namespace

Result<Unit> parse_unit(std::string_view text) {
  const std::string_view shown = trim(text);
  std::string_view inner = shown;
  if (inner.size() > longest_unit)
    return Error{fmt::format("a unit of {} characters is too long; {}.", inner.size(), what_units_may_be)};
  if (inner.size() > 1 && inner.front() == '[' && inner.back() == ']') inner = trim(inner.substr(1, inner.size() - 2));
  if (inner.empty() || inner == "1" || inner == "-") return Unit{};
  Result<Unit> unit = UnitParser(inner).whole();
  if (!unit)
    return Error{
        fmt::format("\"{}\" is not a unit that can be read: {}; {}.", shown, unit.error().message, what_units_may_be)};
  return unit;
}

std::string print_unit(const std::vector<std::pair<std::string, double>>& symbols) {
  std::string above, below;
  int count_below = 0;
  for (const auto& [name, power] : symbols) {
    if (std::fabs(power) < 1e-9) continue;
    std::string& side = power > 0 ? above : below;
    count_below += power > 0 ? 0 : 1;
    side += (side.empty() ? "" : "*") + name + power_text(std::fabs(power));
  }
  if (below.empty()) return above.empty() ? "1" : above;
  return (above.empty() ? "1" : above) + "/" + (count_below > 1 ? "(" + below + ")" : below);
}

}  // namespace nalm::formula
