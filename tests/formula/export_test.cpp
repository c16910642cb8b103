// Formulas in other languages: what they look like, and that C, Python and a spreadsheet compute the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
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
#include "sanitized.hpp"

namespace nalm {
namespace {

using Kind = Expression::Kind;

const std::vector<std::string> kColumns = {"a", "b", "c", "x", "speed (km/h)", "lambda", "m1", "m_2", "r1", "r2"};

std::string exported(std::string_view text, FormulaFormat format, const std::string& target = "y") {
  const auto formula = parse_expression(text);
  EXPECT_TRUE(formula.ok()) << text;
  return formula.ok() ? export_formula(*formula, target, kColumns, format) : "";
}

struct Golden {
  std::string_view formula;
  std::string_view expected;
};

void expect_each(FormulaFormat format, const std::vector<Golden>& cases, std::string_view before = "",
                 std::string_view after = "") {
  for (const auto& [formula, expected] : cases) {
    EXPECT_EQ(exported(formula, format), std::string(before) + std::string(expected) + std::string(after)) << formula;
  }
}

TEST(FindFormat, KnowsAllNamesAndListsThem) {
  EXPECT_EQ(find_format("text").value(), FormulaFormat::Text);
  EXPECT_EQ(find_format("latex").value(), FormulaFormat::Latex);
  EXPECT_EQ(find_format("sympy").value(), FormulaFormat::Sympy);
  EXPECT_EQ(find_format("python").value(), FormulaFormat::Python);
  EXPECT_EQ(find_format("c").value(), FormulaFormat::C);
  EXPECT_EQ(find_format("spreadsheet").value(), FormulaFormat::Spreadsheet);
  EXPECT_EQ(find_format("mathml").value(), FormulaFormat::MathMl);
  EXPECT_EQ(find_format("Word").error().message,
            "there is no formula format \"Word\"; the formats are text, latex, sympy, python, c, spreadsheet, mathml");
}

TEST(ExportText, IsAnEquation) {
  EXPECT_EQ(exported("a*b + 2*c", FormulaFormat::Text), "y = a*b + 2*c");
  EXPECT_EQ(exported("\"speed (km/h)\"/3", FormulaFormat::Text, "drag (N)"), "\"drag (N)\" = \"speed (km/h)\"/3");
}

TEST(ExportLatex, Operators) {
  expect_each(FormulaFormat::Latex,
              {
                  {"(m1*r1 + m_2*r2)/(m1 + m_2)", R"(\frac{m_1 r_1 + m_2 r_2}{m_1 + m_2})"},
                  {"a + (b + c)", R"(a + \left(b + c\right))"},
                  {"a - (b - c)", R"(a - \left(b - c\right))"},
                  {"a - (-b*c)", R"(a - \left(-b c\right))"},
                  {"a*(-b*c)", R"(a \left(-b c\right))"},
                  {"(a + b)*c", R"(\left(a + b\right) c)"},
                  {"a*(b*c)", "a b c"},
                  {"-(a*b)", "-a b"},
                  {"-(a + b)", R"(-\left(a + b\right))"},
                  {"a/b/c", R"(\frac{\frac{a}{b}}{c})"},
                  {"a*(b/c)", R"(a \frac{b}{c})"},
                  {"a^2", "a^2"},
                  {"a^-2", "a^{-2}"},
                  {"a^10", "a^{10}"},
                  {"(a^b)^c", R"(\left(a^{b}\right)^{c})"},
                  {"a^b^c", "a^{b^{c}}"},
                  {"(-a)^2", R"(\left(-a\right)^2)"},
                  {"-a^2", "-a^2"},
                  {"(a/b)^2", R"(\left(\frac{a}{b}\right)^2)"},
                  {"exp(a)^2", R"(\left(e^{a}\right)^2)"},
                  {"sqrt(a)^2", R"(\sqrt{a}^2)"},
              },
              "y = ");
}

TEST(ExportLatex, NumbersAndDots) {
  expect_each(FormulaFormat::Latex,
              {
                  {"6.674e-11*a*b", R"(6.674 \cdot 10^{-11} a b)"},
                  {"1e-7^a", R"(\left(10^{-7}\right)^{a})"},
                  {"a - 2e30", R"(a - 2 \cdot 10^{30})"},
                  {"1/3*a", R"(\frac{1}{3} a)"},
                  {"-4/3*a", R"(-\frac{4}{3} a)"},
                  {"a^(1/3)", R"(a^{\frac{1}{3}})"},
                  {"2*pi*a", R"(2 \pi a)"},
                  {"a*b*pi/4", R"(\frac{a b \pi}{4})"},
                  {"-pi*a", R"(-\pi a)"},
                  {"3*2^a", R"(3 \cdot 2^{a})"},
                  {"a*b*2", R"(a b \cdot 2)"},
                  {"a*b*(-2)", R"(a b \cdot \left(-2\right))"},
                  {"2*(3/a)", R"(2 \cdot \frac{3}{a})"},
                  {"a*(3/b)", R"(a \frac{3}{b})"},
                  {"2*speed*time", R"(2 \cdot \mathrm{speed} \cdot \mathrm{time})"},
                  {"inf/a", R"(\frac{\infty}{a})"},
                  {"nan*a", R"(\mathrm{NaN} a)"},
              },
              "y = ");
}

TEST(ExportLatex, Functions) {
  expect_each(FormulaFormat::Latex,
              {
                  {"sqrt(a + b)", R"(\sqrt{a + b})"},
                  {"a^0.5", R"(\sqrt{a})"},
                  {"exp(-a)", "e^{-a}"},
                  {"log(a)", R"(\ln\left(a\right))"},
                  {"sin(a)*cos(b)", R"(\sin\left(a\right) \cos\left(b\right))"},
                  {"tanh(a)", R"(\tanh\left(a\right))"},
                  {"sigmoid(a)", R"(\sigma\left(a\right))"},
                  {"abs(a - b)", R"(\left|a - b\right|)"},
                  {"sign(a)", R"(\mathrm{sign}\left(a\right))"},
                  {"negative(a)*b", R"(\left[a < 0\right] b)"},
                  {"min(a, b)", R"(\min\left(a, b\right))"},
                  {"max(a, 2)", R"(\max\left(a, 2\right))"},
              },
              "y = ");
}

TEST(ExportLatex, Names) {
  const auto name = [](const std::string& column) {
    return export_formula(Expression::variable(column), "T_max", {column}, FormulaFormat::Latex);
  };
  EXPECT_EQ(name("x12"), R"(T_{\mathrm{max}} = x_{12})");
  EXPECT_EQ(name("x_i"), R"(T_{\mathrm{max}} = x_i)");
  EXPECT_EQ(name("CO2"), R"(T_{\mathrm{max}} = \mathrm{CO}_2)");
  EXPECT_EQ(name("theta1"), R"(T_{\mathrm{max}} = \theta_1)");
  EXPECT_EQ(name("omega"), R"(T_{\mathrm{max}} = \omega)");
  EXPECT_EQ(name("pi"), R"(T_{\mathrm{max}} = \mathrm{pi})");
  EXPECT_EQ(name("speed_of_light"), R"(T_{\mathrm{max}} = \mathrm{speed\_of\_light})");
  EXPECT_EQ(name("speed (km/h)"), R"(T_{\mathrm{max}} = \mathrm{speed\ (km/h)})");
  EXPECT_EQ(name("a%$#&{}"), R"(T_{\mathrm{max}} = \mathrm{a\%\$\#\&\{\}})");
  EXPECT_EQ(name("a\\^~"), R"(T_{\mathrm{max}} = \mathrm{a\backslash{}\wedge{}\sim{}})");
  EXPECT_EQ(name("ö"), R"(T_{\mathrm{max}} = ö)");
  EXPECT_EQ(name("x-1"), R"(T_{\mathrm{max}} = \mathrm{x-1})");
  EXPECT_EQ(name("12"), R"(T_{\mathrm{max}} = \mathrm{12})");
  EXPECT_EQ(name("_"), R"(T_{\mathrm{max}} = \_)");
  EXPECT_EQ(name(""), R"(T_{\mathrm{max}} = ?)");
  EXPECT_EQ(name("a\nb"), R"(T_{\mathrm{max}} = \mathrm{a\ b})");
}

TEST(ExportMathMl, Elements) {
  const std::string minus = R"(<mo form="prefix">&#x2212;</mo>)";
  const std::string square = "<msup><mrow><mi>a</mi></mrow><mrow><mn>2</mn></mrow></msup>";
  expect_each(FormulaFormat::MathMl,
              {
                  {"a + b", "<mi>a</mi><mo>+</mo><mi>b</mi>"},
                  {"a - b", "<mi>a</mi><mo>&#x2212;</mo><mi>b</mi>"},
                  {"2*a", "<mn>2</mn><mo>&#x2062;</mo><mi>a</mi>"},
                  {"-a^2", minus + square},
                  {"(-a)^2", "<msup><mrow><mrow><mo>(</mo>" + minus +
                                 "<mi>a</mi><mo>)</mo></mrow></mrow><mrow><mn>2</mn></mrow></msup>"},
                  {"m1/3", "<mfrac><mrow><msub><mi>m</mi><mn>1</mn></msub></mrow><mrow><mn>3</mn></mrow></mfrac>"},
                  {"-1/3*a", minus + "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>3</mn></mrow></mfrac>"
                                     "<mo>&#x2062;</mo><mi>a</mi>"},
                  {"sqrt(a)", "<msqrt><mi>a</mi></msqrt>"},
                  {"a^0.5", "<msqrt><mi>a</mi></msqrt>"},
                  {"pi*theta_1", "<mi>&#x3C0;</mi><mo>&#x2062;</mo><msub><mi>θ</mi><mn>1</mn></msub>"},
                  {"3e-7*2^a", "<mn>3</mn><mo>&#x22C5;</mo><msup><mn>10</mn><mrow>" + minus +
                                   "<mn>7</mn></mrow></msup><mo>&#x22C5;</mo>"
                                   "<msup><mrow><mn>2</mn></mrow><mrow><mi>a</mi></mrow></msup>"},
                  {"negative(a)", "<mrow><mo>[</mo><mi>a</mi><mo>&lt;</mo><mn>0</mn><mo>]</mo></mrow>"},
                  {"min(a, b)",
                   "<mi>min</mi><mo>&#x2061;</mo><mrow><mo>(</mo><mi>a</mi><mo>,</mo><mi>b</mi>"
                   "<mo>)</mo></mrow>"},
                  {"\"<b> & c\"", "<mi>&lt;b&gt; &amp; c</mi>"},
              },
              "<math display=\"block\"><mi>y</mi><mo>=</mo>", "</math>");
}

TEST(ExportSympy, IsAProgram) {
  EXPECT_EQ(exported("1/3*a*sqrt(b) + 2*pi/min(a, 0.1)", FormulaFormat::Sympy),
            "from sympy import symbols, Float, Min, Rational, pi, sqrt\n"
            "a, b = symbols(\"a b\", real=True)\n"
            "y = Rational(1, 3)*a*sqrt(b) + 2*pi/Min(a, Float(\"0.1\", 17))");
  EXPECT_EQ(exported("\"speed (km/h)\"*lambda", FormulaFormat::Sympy, "pi"),
            "from sympy import symbols\n"
            "# speed_km_h: \"speed (km/h)\"\n"
            "# lambda_: \"lambda\"\n"
            "speed_km_h, lambda_ = symbols(\"speed_km_h lambda_\", real=True)\n"
            "pi_ = speed_km_h*lambda_");
  EXPECT_EQ(exported("2", FormulaFormat::Sympy), "from sympy import Integer\ny = Integer(2)");
}

TEST(ExportSympy, NumbersAreExact) {
  expect_each(FormulaFormat::Sympy, {{"-2/3", "-2, 3"}, {"0.5", "1, 2"}, {"-2.75", "-11, 4"}},
              "from sympy import Rational\ny = Rational(", ")");
  expect_each(FormulaFormat::Sympy,
              {{"1e300", "1e+300"}, {"0.1", "0.1"}, {"0.30000000000000004", "0.30000000000000004"}},
              "from sympy import Float\ny = Float(\"", "\", 17)");
}

TEST(ExportPython, IsAFunction) {
  EXPECT_EQ(exported("a*b + 2*c", FormulaFormat::Python),
            "def y(a, b, c):\n"
            "    \"\"\"y = a*b + 2*c\"\"\"\n"
            "    return a*b + 2*c");
  EXPECT_EQ(exported("\"speed (km/h)\"^2/sqrt(lambda)", FormulaFormat::Python, "is"),
            "import math\n\n\n"
            "# speed_km_h: \"speed (km/h)\"\n"
            "# lambda_: \"lambda\"\n"
            "def is_(speed_km_h, lambda_):\n"
            "    \"\"\"is = \\\"speed (km/h)\\\"^2/sqrt(lambda)\"\"\"\n"
            "    return speed_km_h**2/math.sqrt(lambda_)");
}

std::string python_value(std::string_view formula) {
  const std::string text = exported(formula, FormulaFormat::Python);
  return text.substr(text.rfind("return ") + 7);
}

TEST(ExportPython, Expressions) {
  const std::vector<Golden> cases = {
      {"a^2", "a**2"},
      {"a^-1", "a**-1"},
      {"-a^2", "-a**2"},
      {"(-a)^2", "(-a)**2"},
      {"a^0.5", "math.pow(a, 0.5)"},
      {"2^a", "math.pow(2, a)"},
      {"a - (b - c)", "a - (b - c)"},
      {"a/(b*c)", "a/(b*c)"},
      {"4/3*pi*a", "4*math.pi/3*a"},
      {"a^(1/3)", "math.pow(a, 1/3)"},
      {"sigmoid(-a)", "1/(1 + math.exp(-(-a)))"},
      {"b/sigmoid(a + b)", "b/(1/(1 + math.exp(-(a + b))))"},
      {"negative(a)", "float(a < 0)"},
      {"abs(a) + max(a, b)", "abs(a) + max(a, b)"},
      {"sign(a)", "(lambda v: float((v > 0) - (v < 0)))(a)"},
      {"a - inf", "a - math.inf"},
  };
  for (const auto& [formula, expected] : cases) EXPECT_EQ(python_value(formula), expected);
}

TEST(ExportC, IsAFunction) {
  EXPECT_EQ(exported("a*b + 2*sqrt(c)/3", FormulaFormat::C),
            "#include <math.h>\n\n"
            "/* y = a*b + 2*sqrt(c)/3 */\n"
            "double y(double a, double b, double c) {\n"
            "  return a*b + 2.0*sqrt(c)/3.0;\n"
            "}");
  EXPECT_EQ(exported("sign(\"speed (km/h)\")*\"*/\"", FormulaFormat::C, "y1"),
            "#include <math.h>\n\n"
            "static double sign_of_y1_(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }\n\n"
            "/* y1 = sign(\"speed (km/h)\")*\"* /\"\n"
            "   speed_km_h: \"speed (km/h)\"\n"
            "   x: \"* /\" */\n"
            "double y1_(double speed_km_h, double x) {\n"
            "  return sign_of_y1_(speed_km_h)*x;\n"
            "}");
  EXPECT_EQ(exported("7", FormulaFormat::C), "#include <math.h>\n\n/* y = 7 */\ndouble y(void) {\n  return 7.0;\n}");
}

std::string c_value(std::string_view formula) {
  const std::string text = exported(formula, FormulaFormat::C);
  const std::size_t start = text.rfind("return ") + 7;
  return text.substr(start, text.rfind(';') - start);
}

TEST(ExportC, Expressions) {
  const std::vector<Golden> cases = {
      {"1/3*a", "1.0/3.0*a"},
      {"1e300*a", "1e+300*a"},
      {"100000*a", "100000.0*a"},
      {"a^2", "a*a"},
      {"b/a^2", "b/(a*a)"},
      {"(a + b)^2", "pow(a + b, 2.0)"},
      {"a^3", "pow(a, 3.0)"},
      {"a - (-2)", "a - (-2.0)"},
      {"-(-2*a)", "-(-2.0*a)"},
      {"abs(a)*min(a, b)", "fabs(a)*fmin(a, b)"},
      {"negative(a + b)", "(a + b < 0.0 ? 1.0 : 0.0)"},
      {"sigmoid(a)", "1.0/(1.0 + exp(-a))"},
      {"pi*a", "3.141592653589793*a"},
      {"nan*a - inf", "NAN*a - INFINITY"},
  };
  for (const auto& [formula, expected] : cases) EXPECT_EQ(c_value(formula), expected);
}

TEST(ExportC, AvoidsTheNamesThatAreTaken) {
  EXPECT_EQ(c_value("sign(sign_of_y)"), "sign_of_y(sign_of_y_2)");
  for (const char* name : {"double", "class", "y1", "exp", "logf", "sqrtl", "time", "main", "NAN"}) {
    const std::string text = export_formula(Expression::variable("a"), name, {"a"}, FormulaFormat::C);
    EXPECT_NE(text.find("double " + std::string(name) + "_(double a)"), std::string::npos) << text;
  }
}

TEST(ExportNames, ThatBecomeEqualAreNumbered) {
  const std::vector<std::string> columns = {"a b", "a-b", "a_b", "y", "1", "", "ö"};
  Expression sum = 0;
  for (const std::string& column : columns) sum += Expression::variable(column);
  EXPECT_EQ(export_formula(sum, "y", columns, FormulaFormat::Python),
            "# a_b: \"a b\"\n# a_b_2: \"a-b\"\n# a_b_3: \"a_b\"\n# y_2: \"y\"\n# x_1: \"1\"\n# x: \"\"\n# x_2: \"ö\"\n"
            "def y(a_b, a_b_2, a_b_3, y_2, x_1, x, x_2):\n"
            "    \"\"\"y = \\\"a b\\\" + \\\"a-b\\\" + a_b + y + \\\"1\\\" + \\\"\\\" + \\\"ö\\\"\"\"\"\n"
            "    return a_b + a_b_2 + a_b_3 + y_2 + x_1 + x + x_2");
}

TEST(ExportNames, ParametersHaveTheOrderOfTheColumns) {
  const Expression formula = Expression::variable("c") * Expression::variable("z") + Expression::variable("a");
  const std::string text = export_formula(formula, "y", kColumns, FormulaFormat::Python);
  EXPECT_EQ(text.substr(0, text.find('\n')), "def y(a, c, z):");
}

TEST(ExportNames, AreShownInOneLineOfUtf8) {
  const Expression formula = Expression::variable("a\nb\xFF\xC3\xED\xA0\x80\t€");
  EXPECT_EQ(export_formula(formula, "y", {}, FormulaFormat::MathMl),
            "<math display=\"block\"><mi>y</mi><mo>=</mo><mi>a b????? €</mi></math>");
}

// Signs bind tighter than powers there, and a^b^c is (a^b)^c.
TEST(ExportSpreadsheet, MindsItsPrecedences) {
  expect_each(FormulaFormat::Spreadsheet,
              {
                  {"a*b + 2*c", "A2*B2+2*C2"},
                  {"-a^2", "-(A2^2)"},
                  {"(-a)^2", "(-A2)^2"},
                  {"b - a^2", "B2-A2^2"},
                  {"-a^2 + b", "-(A2^2)+B2"},
                  {"-2*a^2", "-2*A2^2"},
                  {"exp(-a^2)", "EXP(-(A2^2))"},
                  {"sigmoid(a^2)", "1/(1+EXP(-(A2^2)))"},
                  {"a^b^c", "A2^(B2^C2)"},
                  {"(a^b)^c", "(A2^B2)^C2"},
                  {"a^-2", "A2^(-2)"},
                  {"2^-a", "2^(-A2)"},
                  {"(-2)^a", "(-2)^A2"},
                  {"a^(1/3)", "A2^(1/3)"},
                  {"a*(-b)", "A2*(-B2)"},
                  {"a - (-b)", "A2-(-B2)"},
                  {"a + (b + c)", "A2+(B2+C2)"},
                  {"a - (b - c)", "A2-(B2-C2)"},
                  {"a/(b/c)", "A2/(B2/C2)"},
                  {"1e-5*a", "1E-05*A2"},
                  {"pi*a", "PI()*A2"},
                  {"log(a) + sqrt(abs(b))", "LN(A2)+SQRT(ABS(B2))"},
                  {"min(a, b)*sign(c)", "MIN(A2,B2)*SIGN(C2)"},
                  {"negative(a)", "IF(A2<0,1,0)"},
                  {"tanh(r2)", "TANH(J2)"},
                  {"unknown", "#REF!"},
              },
              "=");
}

TEST(ExportSpreadsheet, ColumnsGoOnAfterZ) {
  std::vector<std::string> columns(703);
  for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = "x" + std::to_string(k);
  const auto cell = [&](const std::string& name) {
    return export_formula(Expression::variable(name), "y", columns, FormulaFormat::Spreadsheet);
  };
  EXPECT_EQ(cell("x25"), "=Z2");
  EXPECT_EQ(cell("x26"), "=AA2");
  EXPECT_EQ(cell("x51"), "=AZ2");
  EXPECT_EQ(cell("x52"), "=BA2");
  EXPECT_EQ(cell("x701"), "=ZZ2");
  EXPECT_EQ(cell("x702"), "=AAA2");
}

TEST(ExportAll, LongChainsDoNotOverflowTheStack) {
  constexpr int kTerms = test::sanitized ? 10000 : 100000;
  const Expression x = Expression::variable("x");
  Expression sum = x;
  Expression nested = x;
  for (int i = 1; i < kTerms; ++i) {
    sum += x;
    const std::array steps = {x + nested, x * nested, pow(x, nested), pow(nested, 2), sign(nested)};
    nested = steps[static_cast<std::size_t>(i) % steps.size()];
  }
  for (const char* format : {"text", "latex", "sympy", "python", "c", "spreadsheet", "mathml"}) {
    for (const Expression& e : {sum, nested}) {
      const std::string text = export_formula(e, "y", kColumns, find_format(format).value());
      EXPECT_GT(text.size(), static_cast<std::size_t>(kTerms)) << format;
    }
  }
}

// ---- The same numbers elsewhere -----------------------------------------------------------------------------------

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
    if (below(5) == 0) return Expression::call(function_names()[below(10)], {a});
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
        return Expression::call(function_names()[10 + below(2)], {a, b});
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
}  // namespace nalm
