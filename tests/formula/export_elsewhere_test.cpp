// Formulas in other languages: that C, Python and a spreadsheet compute the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "formula/node.hpp"
#include "nalm/expression.hpp"
#include "nalm/formula_export.hpp"

namespace nalm::export_elsewhere_test {
namespace {

using Kind = Expression::Kind;

const std::vector<std::string> kOddColumns = {
    "x",   "speed (km/h)", "lambda", "y1", "Größe",         "pi",   "a \"*/\\\" b\\", "1st",   "",
    "exp", "x_2",          "x-2",    "f",  "line\nbreak\\", "\xFF", "math",           "double"};

// The standard distributions differ between libraries, so there are none here.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }

  double value() { return static_cast<double>(below(100001)) / 20000 - 2.5; }

  double constant() {
    const double p = static_cast<double>(below(24)) - 12;
    const double q = static_cast<double>(1 + below(12));
    const double constants[] = {p, p / q, p * std::numbers::pi / q, p / (q * std::numbers::pi), value(), p * 1e-7, 0.5};
    return constants[below(std::size(constants))];
  }

  Expression tree(std::size_t depth) {
    if (depth == 0 || below(6) == 0) {
      return below(3) == 0 ? Expression(constant()) : Expression::variable(kOddColumns[below(kOddColumns.size())]);
    }
    const Expression a = tree(depth - 1);
    if (below(6) == 0) return -a;
    if (below(5) == 0) return *Expression::call(function_names()[below(function_names().size() - 2)], {a});
    if (below(5) == 0) return pow(a, constants_of_powers()[below(constants_of_powers().size())]);
    const Expression b = tree(depth - 1);
    switch (below(10)) {
      case 0:
      case 1:
        return a + b;
      case 2:
      case 3:
        return a - b;
      case 4:
      case 5:
        return a * b;
      case 6:
      case 7:
        return a / b;
      case 8:
        return pow(a, b);
      default:
        return *Expression::call(function_names()[function_names().size() - 1 - below(2)], {a, b});
    }
  }

 private:
  static const std::vector<double>& constants_of_powers() {
    static const std::vector<double> exponents = {2, 3, -1, -2, 0.5, -0.5, 1.0 / 3, 1.7};
    return exponents;
  }

  std::mt19937_64 engine_;
};

struct Case {
  std::uint64_t seed;
  Expression formula;
  std::string function;
  std::vector<double> point;
  std::vector<double> arguments;  // the values of the columns used
  ScaledValue expected;
};

// Python stops at a division by zero and where a number gets too large, and languages differ in what they make of NaN.
bool is_finite_throughout(const Expression& e, const std::vector<double>& point) {
  bool finite = true;
  formula::visit_operands_first(e, [&](const Expression& part) {
    const double value = evaluate(part, kOddColumns, point).value();
    const double least = part.kind() == Kind::Call && part.name() == "sigmoid"
                             ? evaluate(part.operands()[0], kOddColumns, point).value()
                             : 0;
    finite = finite && std::isfinite(value) && least > -700;
  });
  return finite;
}

constexpr std::size_t kFormulas = 300;
constexpr std::size_t kPoints = 2;

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> result;
    for (std::uint64_t seed = 0; seed < kFormulas; ++seed) {
      Generator generator(seed);
      const Expression formula = generator.tree(1 + seed % 6);
      const std::vector<std::string> used = variables(formula);
      for (std::size_t k = 0; k < kPoints; ++k) {
        std::vector<double> point;
        for (std::size_t i = 0; i < kOddColumns.size(); ++i) point.push_back(generator.value());
        if (!is_finite_throughout(formula, point)) continue;
        std::vector<double> arguments;
        for (std::size_t i = 0; i < kOddColumns.size(); ++i) {
          if (std::find(used.begin(), used.end(), kOddColumns[i]) != used.end()) arguments.push_back(point[i]);
        }
        const ScaledValue expected = evaluate_with_scale(formula, kOddColumns, point).value();
        result.push_back({seed, formula, "f" + std::to_string(seed), point, arguments, expected});
      }
    }
    return result;
  }();
  return all;
}

void expect_same(const Case& c, double actual, FormulaFormat format) {
  EXPECT_LE(std::abs(actual - c.expected.value), 1e-12 * c.expected.scale)
      << "seed " << c.seed << ": " << actual << ", expected " << c.expected.value << "\n"
      << export_formula(c.formula, c.function, kOddColumns, format);
}

std::string exact(double value) {
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%a", value);
  return buffer.data();
}

// Calls such as f12(0x1p+0, 0x1.8p+1), each as write(call).
template <class Write>
std::string all_calls(Write write) {
  std::string text;
  for (const Case& c : cases()) {
    std::string call = c.function + "(";
    for (std::size_t i = 0; i < c.arguments.size(); ++i) call += (i > 0 ? ", " : "") + write(c.arguments[i]);
    text += call + ")\n";
  }
  return text;
}

std::string all_functions(FormulaFormat format) {
  std::string text;
  std::uint64_t last = kFormulas;
  for (const Case& c : cases()) {
    if (c.seed != last) text += export_formula(c.formula, c.function, kOddColumns, format) + "\n\n";
    last = c.seed;
  }
  return text;
}

bool runs(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

class Elsewhere : public testing::Test {
 public:
  Elsewhere() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nalm-export-XXXXXX").string();
    if (const char* made = mkdtemp(pattern.data())) folder_ = made;
  }
  ~Elsewhere() override { std::filesystem::remove_all(folder_); }

 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

  // Runs a command that prints one number per case, and compares.
  void compare(const std::string& command, FormulaFormat format) const {
    ASSERT_EQ(std::system((command + " > " + path("values")).c_str()), 0) << command;
    std::ifstream values(path("values"));
    for (const Case& c : cases()) {
      std::string word;
      ASSERT_TRUE(values >> word) << "seed " << c.seed;
      expect_same(c, std::strtod(word.c_str(), nullptr), format);
    }
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(Elsewhere, ThereIsEnoughToCompare) {
  EXPECT_GT(cases().size(), kFormulas);
  EXPECT_GT(
      std::count_if(cases().begin(), cases().end(), [](const Case& c) { return std::isfinite(c.expected.scale); }),
      static_cast<std::ptrdiff_t>(kFormulas));
}

TEST_F(Elsewhere, CComputesTheSame) {
  if (!runs("cc --version")) GTEST_SKIP() << "there is no C compiler called cc";
  std::string program = all_functions(FormulaFormat::C) + "#include <stdio.h>\nint main(void) {\n";
  std::istringstream calls(all_calls(exact));
  for (std::string call; std::getline(calls, call);) program += "  printf(\"%a\\n\", " + call + ");\n";
  write("formulas.c", program + "  return 0;\n}\n");
  const std::string flags = " -pedantic-errors -Wall -Wextra -Werror " + path("formulas.c");
  ASSERT_EQ(std::system(("cc -std=c99 -o " + path("formulas") + flags + " -lm").c_str()), 0);
  ASSERT_EQ(std::system(("cc -x c++ -std=c++17 -fsyntax-only" + flags).c_str()), 0);
  compare(path("formulas"), FormulaFormat::C);
}

TEST_F(Elsewhere, PythonComputesTheSame) {
  if (!runs("python3 --version")) GTEST_SKIP() << "there is no python3";
  std::string program = all_functions(FormulaFormat::Python);
  std::istringstream calls(all_calls([](double x) { return "float.fromhex('" + exact(x) + "')"; }));
  for (std::string call; std::getline(calls, call);) program += "print(float(" + call + ").hex())\n";
  write("formulas.py", program);
  compare("python3 " + path("formulas.py"), FormulaFormat::Python);
}

TEST_F(Elsewhere, PythonFindsMathMlWellFormed) {
  if (!runs("python3 --version")) GTEST_SKIP() << "there is no python3";
  write("formulas.xml", "<all>" + all_functions(FormulaFormat::MathMl) + "</all>");
  write("check.py",
        "import sys, xml.etree.ElementTree as tree\n"
        "children = {'mfrac': 2, 'msup': 2, 'msub': 2}\n"
        "for e in tree.parse(sys.argv[1]).iter():\n"
        "    assert e.tag not in children or len(e) == children[e.tag], tree.tostring(e)\n");
  EXPECT_EQ(std::system(("python3 " + path("check.py") + " " + path("formulas.xml")).c_str()), 0);
}

// As spreadsheets read it: comparisons, then sums, products, powers from the left, and signs the tightest.
class Spreadsheet {
 public:
  Spreadsheet(std::string_view text, const std::vector<double>& row) : rest_(text.substr(1)), row_(row) {}

  double value() {
    const double result = comparison();
    return rest_.empty() ? result : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  double comparison() {
    const double left = sum();
    return take('<') ? static_cast<double>(left < sum()) : left;
  }

  double sum() {
    double result = product();
    for (;;) {
      if (take('+')) {
        result += product();
      } else if (take('-')) {
        result -= product();
      } else {
        return result;
      }
    }
  }

  double product() {
    double result = power();
    for (;;) {
      if (take('*')) {
        result *= power();
      } else if (take('/')) {
        result /= power();
      } else {
        return result;
      }
    }
  }

  double power() {
    double result = with_sign();
    while (take('^')) result = std::pow(result, with_sign());
    return result;
  }

  double with_sign() { return take('-') ? -with_sign() : atom(); }

  double atom() {
    if (take('(')) {
      const double result = comparison();
      take(')');
      return result;
    }
    if (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0]))) {
      const std::string text(rest_);
      char* end = nullptr;
      const double result = std::strtod(text.c_str(), &end);
      rest_.remove_prefix(static_cast<std::size_t>(end - text.c_str()));
      return result;
    }
    std::string word;
    for (; !rest_.empty() && std::isalnum(static_cast<unsigned char>(rest_[0])); rest_.remove_prefix(1)) {
      word += rest_[0];
    }
    if (!take('(')) return row_[static_cast<std::size_t>(word[0] - 'A')];  // row 2, and no more than 26 columns
    std::vector<double> x;
    while (!take(')')) {
      x.push_back(comparison());
      take(',');
    }
    return call(word, x);
  }

  static double call(const std::string& function, const std::vector<double>& x) {
    if (function == "PI") return std::numbers::pi;
    if (function == "EXP") return std::exp(x[0]);
    if (function == "LN") return std::log(x[0]);
    if (function == "SQRT") return std::sqrt(x[0]);
    if (function == "TANH") return std::tanh(x[0]);
    if (function == "SIN") return std::sin(x[0]);
    if (function == "COS") return std::cos(x[0]);
    if (function == "ASIN") return std::asin(x[0]);
    if (function == "ACOS") return std::acos(x[0]);
    if (function == "ABS") return std::abs(x[0]);
    if (function == "SIGN") return static_cast<double>((x[0] > 0) - (x[0] < 0));
    if (function == "IF") return x[0] != 0 ? x[1] : x[2];
    if (function == "MIN") return std::min(x[0], x[1]);
    if (function == "MAX") return std::max(x[0], x[1]);
    return std::numeric_limits<double>::quiet_NaN();
  }

  std::string_view rest_;
  const std::vector<double>& row_;
};

TEST_F(Elsewhere, ASpreadsheetComputesTheSame) {
  for (const Case& c : cases()) {
    const std::string text = export_formula(c.formula, c.function, kOddColumns, FormulaFormat::Spreadsheet);
    expect_same(c, Spreadsheet(text, c.point).value(), FormulaFormat::Spreadsheet);
  }
}

}  // namespace
}  // namespace nalm::export_elsewhere_test
