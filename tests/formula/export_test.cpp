// Formulas in other languages: what they look like.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formula/exports.hpp"
#include "nalm/expression.hpp"
#include "nalm/formula_export.hpp"
#include "sanitized.hpp"

namespace nalm::export_test {
namespace {

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
  EXPECT_EQ(
      find_format("Word").error().message,
      "there is no formula format \"Word\"; the formats are text, latex, sympy, python, c, spreadsheet, mathml, numpy");
}

// The functions that a search may find, in all languages.
TEST(Export, EveryFunctionHasItsNameInEveryLanguage) {
  struct Row {
    std::string_view name, latex, python, numpy, spreadsheet, mathml;
  };
  const Row rows[] = {
      {"exp", "e^{a}", "math.exp(a)", "np.exp(a)", "EXP(A2)", "<msup><mi>e</mi><mrow><mi>a</mi></mrow></msup>"},
      {"log", R"(\ln\left(a\right))", "math.log(a)", "np.log(a)", "LN(A2)", "<mi>ln</mi>"},
      {"sin", R"(\sin\left(a\right))", "math.sin(a)", "np.sin(a)", "SIN(A2)", "<mi>sin</mi>"},
      {"cos", R"(\cos\left(a\right))", "math.cos(a)", "np.cos(a)", "COS(A2)", "<mi>cos</mi>"},
      {"tanh", R"(\tanh\left(a\right))", "math.tanh(a)", "np.tanh(a)", "TANH(A2)", "<mi>tanh</mi>"},
      {"asin", R"(\arcsin\left(a\right))", "math.asin(a)", "np.arcsin(a)", "ASIN(A2)", "<mi>arcsin</mi>"},
      {"acos", R"(\arccos\left(a\right))", "math.acos(a)", "np.arccos(a)", "ACOS(A2)", "<mi>arccos</mi>"},
  };
  for (const Row& row : rows) {
    const std::string call = std::string(row.name) + "(a)";
    EXPECT_EQ(exported(call, FormulaFormat::Text), "y = " + call);
    EXPECT_EQ(exported(call, FormulaFormat::Latex), "y = " + std::string(row.latex));
    EXPECT_EQ(exported(call, FormulaFormat::Python),
              "import math\n\n\ndef y(a):\n    \"\"\"y = " + call + "\"\"\"\n    return " + std::string(row.python));
    EXPECT_EQ(exported(call, FormulaFormat::Sympy),
              "from sympy import symbols, " + std::string(row.name) + "\na = symbols(\"a\", real=True)\ny = " + call);
    EXPECT_EQ(exported(call, FormulaFormat::C),
              "#include <math.h>\n\n/* y = " + call + " */\ndouble y(double a) {\n  return " + call + ";\n}");
    EXPECT_EQ(exported(call, FormulaFormat::Spreadsheet), "=" + std::string(row.spreadsheet));
    EXPECT_NE(exported(call, FormulaFormat::MathMl).find(row.mathml), std::string::npos) << row.name;
    EXPECT_TRUE(exported(call, *find_format("numpy")).ends_with("    return " + std::string(row.numpy))) << row.name;
  }
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

TEST(ExportSympy, DeclaresWhatIsPositive) {
  const Expression formula = *parse_expression("a*sqrt(\"b c\")*d");
  EXPECT_EQ(export_formula(formula, "y", {"a", "b c", "d"}, FormulaFormat::Sympy, 2, {"b c", "d", "unused"}),
            "from sympy import symbols, sqrt\n"
            "# b_c: \"b c\"\n"
            "b_c, d = symbols(\"b_c d\", positive=True)\n"
            "a = symbols(\"a\", real=True)\n"
            "y = a*sqrt(b_c)*d");
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

TEST(ExportNames, AvoidWhatIsReservedForItsFirstLetters) {
  for (const char* name : {"__func__", "_Float64", "FP_NAN", "MATH_ERRNO", "__LINE__", "math_errhandling"}) {
    const Expression formula = Expression::variable(name) + 1.0;
    const std::string text = export_formula(formula, "y", {name}, FormulaFormat::C);
    EXPECT_EQ(text.find("double " + std::string(name) + ")"), std::string::npos) << text;
  }
  const std::string python =
      export_formula(Expression::variable("__debug__") + 1.0, "y", {"__debug__"}, FormulaFormat::Python);
  EXPECT_NE(python.find("def y(x__debug__)"), std::string::npos) << python;
  const std::string sympy =
      export_formula(Expression::variable("__debug__") + 1.0, "y", {"__debug__"}, FormulaFormat::Sympy);
  EXPECT_NE(sympy.find("x__debug__"), std::string::npos) << sympy;
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
  for (const char* format : {"text", "latex", "sympy", "python", "c", "spreadsheet", "mathml", "numpy"}) {
    for (const Expression& e : {sum, nested}) {
      const std::string text = export_formula(e, "y", kColumns, find_format(format).value());
      EXPECT_GT(text.size(), static_cast<std::size_t>(kTerms)) << format;
    }
  }
}

}  // namespace
}  // namespace nalm::export_test

namespace nalm::numpy_test {
namespace {

std::string numpy(std::string_view formula) {
  return export_formula(*parse_expression(formula), "y", {"a", "b"}, find_format("numpy").value());
}

TEST(Numpy, IsAFunctionOfArrays) {
  EXPECT_EQ(numpy("a^-2 + max(b, 0.5)*sqrt(a)"),
            "import numpy as np\n\n\ndef y(a, b):\n    \"\"\"y = a^-2 + max(b, 0.5)*sqrt(a)\"\"\"\n"
            "    a = np.asarray(a, dtype=float)\n    b = np.asarray(b, dtype=float)\n"
            "    return a**-2 + np.maximum(b, 0.5)*np.sqrt(a)");
  EXPECT_TRUE(numpy("negative(a - b)*pi").ends_with("return np.pi*np.where(a - b < 0, 1.0, 0.0)"))
      << numpy("negative(a - b)*pi");
}

TEST(Remarks, AreThoseOfTheLanguage) {
  EXPECT_EQ(formula::remark(FormulaFormat::Python, "so"), "# so\n");
  EXPECT_EQ(formula::remark(FormulaFormat::C, "so */ then"), "/* so * / then */\n");
  EXPECT_EQ(formula::remark(FormulaFormat::Latex, "so"), "% so\n");
  EXPECT_EQ(formula::remark(FormulaFormat::Text, "so"), "");
}

}  // namespace
}  // namespace nalm::numpy_test
