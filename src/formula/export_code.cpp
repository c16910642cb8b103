// Formulas for programs: text that computes the same number.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <numbers>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "formula/exports.hpp"
#include "formula/identifiers.hpp"
#include "formula/readable.hpp"
#include "formula/writer.hpp"

namespace nalm::formula {

using Kind = Expression::Kind;

namespace {

bool is_whole(const Expression& e) {
  return e.kind() == Kind::Constant && std::isfinite(e.constant()) && std::floor(e.constant()) == e.constant();
}

// ---- Python -------------------------------------------------------------------------------------------------------

Number python_number(double value) {
  if (std::isnan(value)) return {"math.nan", Binding::Atom};
  const std::string sign = is_negative(value) ? "-" : "";
  if (std::isinf(value)) return signed_number(value, sign + "math.inf");
  if (std::abs(value) == std::numbers::pi) return signed_number(value, sign + "math.pi");
  return signed_number(value, shortest(value));
}

// A negative number to any other power is complex in Python, and math.pow says so instead.
const Rule* python_special(const Expression& e) {
  static constexpr Rule kWholePower = {"$a**$b", Binding::Power, kAtom, kSigned};
  return e.kind() == Kind::Power && is_whole(e.operands()[1]) ? &kWholePower : nullptr;
}

constexpr FunctionRule kPythonFunctions[] = {
    {"abs", {"abs($a)"}},
    {"sign", {"(lambda v: float((v > 0) - (v < 0)))($a)"}},
    {"negative", {"float($a < 0)"}},
    {"sigmoid", {"1/(1 + math.exp(-$a))", Binding::Product, kPower}},
    {"min", {"min($a, $b)"}},
    {"max", {"max($a, $b)"}},
};

constexpr Language kPython = {
    .power = {"math.pow($a, $b)"},
    .function = {"math.$n($a)"},
    .functions = kPythonFunctions,
    .number = python_number,
    .special = python_special,
};

// ---- NumPy --------------------------------------------------------------------------------------------------------

Number numpy_number(double value) {
  if (std::isnan(value)) return {"np.nan", Binding::Atom};
  const std::string sign = is_negative(value) ? "-" : "";
  if (std::isinf(value)) return signed_number(value, sign + "np.inf");
  if (std::abs(value) == std::numbers::pi) return signed_number(value, sign + "np.pi");
  return signed_number(value, shortest(value));
}

// asin and acos have these names in every NumPy, the short ones from version 2 on.
constexpr FunctionRule kNumpyFunctions[] = {
    {"asin", {"np.arcsin($a)"}},
    {"acos", {"np.arccos($a)"}},
    {"negative", {"np.where($a < 0, 1.0, 0.0)"}},
    {"sigmoid", {"1/(1 + np.exp(-$a))", Binding::Product, kPower}},
    {"min", {"np.minimum($a, $b)"}},
    {"max", {"np.maximum($a, $b)"}},
};

constexpr Language kNumpy = {
    .power = {"$a**$b", Binding::Power, kAtom, kSigned},
    .function = {"np.$n($a)"},
    .functions = kNumpyFunctions,
    .number = numpy_number,
};

bool is_numpy_word(std::string_view name) { return name == "np" || is_python_word(name); }

// ---- C ------------------------------------------------------------------------------------------------------------

Number c_number(double value) {
  if (std::isnan(value)) return {"NAN", Binding::Atom};
  if (std::isinf(value)) return signed_number(value, value < 0 ? "-INFINITY" : "INFINITY");
  std::string text = shortest(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return signed_number(value, text);
}

// The product has the same bits, and is faster where the compiler does not see that.
const Rule* c_special(const Expression& e) {
  static constexpr Rule kSquare = {"$a*$a", Binding::Product, kAtom};
  const bool is_square = e.kind() == Kind::Power && e.operands()[0].kind() == Kind::Variable;
  return is_square && e.operands()[1].is_constant(2) ? &kSquare : nullptr;
}

constexpr FunctionRule kCFunctions[] = {
    {"abs", {"fabs($a)"}},
    {"sign", {"sign_of_$f($a)"}},
    {"negative", {"($a < 0.0 ? 1.0 : 0.0)"}},
    {"sigmoid", {"1.0/(1.0 + exp(-$a))", Binding::Product, kPower}},
    {"min", {"fmin($a, $b)"}},
    {"max", {"fmax($a, $b)"}},
};

constexpr Language kC = {
    .power = {"pow($a, $b)"},
    .functions = kCFunctions,
    .number = c_number,
    .special = c_special,
};

// ---- SymPy --------------------------------------------------------------------------------------------------------

constexpr std::string_view kSympyNames[] = {"symbols",  "Abs",  "Float", "Integer", "Max",  "Min", "Piecewise",
                                            "Rational", "acos", "asin",  "cos",     "exp",  "log", "nan",
                                            "oo",       "pi",   "sign",  "sin",     "sqrt", "tanh"};

bool is_sympy_word(std::string_view name) {
  return is_python_word(name) ||
         std::find(std::begin(kSympyNames), std::end(kSympyNames), name) != std::end(kSympyNames);
}

// All digits of a larger one would claim more than a double knows.
bool is_integer(const Expression& e) { return is_whole(e) && std::abs(e.constant()) < 1e15; }

Number sympy_number(double value) {
  if (std::isnan(value)) return {"nan", Binding::Atom};
  const std::string sign = is_negative(value) ? "-" : "";
  if (std::isinf(value)) return signed_number(value, sign + "oo");
  if (std::abs(value) == std::numbers::pi) return signed_number(value, sign + "pi");
  if (is_integer(value)) return signed_number(value, std::to_string(static_cast<std::int64_t>(value)));
  constexpr int kSteps = 16;  // halves, quarters, ... are exact, and SymPy knows that x**Rational(1, 2) is a root
  if (is_integer(value * kSteps)) {
    const auto steps = static_cast<std::int64_t>(value * kSteps);
    const std::int64_t common = std::gcd(steps, std::int64_t{kSteps});
    return {"Rational(" + std::to_string(steps / common) + ", " + std::to_string(kSteps / common) + ")", Binding::Atom};
  }
  return {"Float(\"" + shortest(value) + "\", 17)", Binding::Atom};
}

// Python would make a rounded number of 1/3.
const Rule* sympy_special(const Expression& e) {
  static constexpr Rule kFraction = {"Rational($a, $b)"};
  return e.kind() == Kind::Divide && is_whole(e.operands()[0]) && is_whole(e.operands()[1]) ? &kFraction : nullptr;
}

constexpr FunctionRule kSympyFunctions[] = {
    {"abs", {"Abs($a)"}},
    {"negative", {"Piecewise((1, $a < 0), (0, True))"}},
    {"sigmoid", {"1/(1 + exp(-$a))", Binding::Product, kPower}},
    {"min", {"Min($a, $b)"}},
    {"max", {"Max($a, $b)"}},
};

constexpr Language kSympy = {
    .power = {"$a**$b", Binding::Power, kAtom, kSigned},
    .functions = kSympyFunctions,
    .number = sympy_number,
    .special = sympy_special,
};

// ---- A function and its parameters --------------------------------------------------------------------------------

class Signature {
 public:
  Signature(const Exported& exported, bool (*is_reserved)(std::string_view)) {
    Identifiers identifiers(is_reserved);
    function_ = identifiers.make(exported.target);
    identifiers.make("sign_of_" + function_);  // the helper that C needs
    const std::vector<std::string> used = variables(exported.formula);
    for (const std::string& column : exported.columns) {
      if (std::find(used.begin(), used.end(), column) != used.end()) add(column, identifiers);
    }
    for (const std::string& column : used) add(column, identifiers);
  }

  const std::string& function() const { return function_; }
  const std::vector<std::string>& columns() const { return columns_; }

  Names names() const {
    return {[this](const std::string& column) { return identifiers_.at(column); }, function_};
  }

  // Symbols for SymPy, one line for those that are positive and one for the others.
  std::string symbols(const std::vector<std::string>& positive) const {
    std::string text;
    for (const bool wanted : {true, false}) {
      std::string names, list;
      for (const std::string& column : columns_) {
        if ((std::find(positive.begin(), positive.end(), column) != positive.end()) != wanted) continue;
        names += (names.empty() ? "" : ", ") + identifiers_.at(column);
        list += (list.empty() ? "" : " ") + identifiers_.at(column);
      }
      if (!names.empty()) text += names + " = symbols(\"" + list + "\", " + (wanted ? "positive" : "real") + "=True)\n";
    }
    return text;
  }

  // The parameters, each with this in front.
  std::string parameters(std::string_view type, std::string_view separator) const {
    std::string list;
    for (const std::string& column : columns_) {
      if (!list.empty()) list += separator;
      list += type;
      list += identifiers_.at(column);
    }
    return list;
  }

  // One line for each column that had to be renamed, with this in front.
  std::string renamed(std::string_view prefix) const {
    std::string lines;
    for (const std::string& column : columns_) {
      const std::string& identifier = identifiers_.at(column);
      if (identifier == column) continue;
      lines += prefix;
      lines += identifier + ": \"" + one_line(column) + "\"\n";
    }
    return lines;
  }

 private:
  void add(const std::string& column, Identifiers& identifiers) {
    if (identifiers_.contains(column)) return;
    identifiers_[column] = identifiers.make(column);
    columns_.push_back(column);
  }

  std::string function_;
  std::vector<std::string> columns_;
  std::map<std::string, std::string> identifiers_;
};

std::string written(const Exported& exported, const Language& language, const Names& names) {
  return write(readable(exported.formula, Minus::InNumerator), language, names);
}

}  // namespace

std::string export_python(const Exported& exported) {
  const Signature signature(exported, is_python_word);
  const std::string value = written(exported, kPython, signature.names());
  const std::string documentation = replaced(replaced(one_line(export_text(exported)), "\\", "\\\\"), "\"", "\\\"");
  std::string text = contains_word(value, "math") ? "import math\n\n\n" : "";
  text += signature.renamed("# ");
  text += "def " + signature.function() + "(" + signature.parameters("", ", ") + "):\n";
  return text + "    \"\"\"" + documentation + "\"\"\"\n    return " + value;
}

// Arrays of whole numbers have no negative powers in NumPy, so that they become real numbers first.
std::string export_numpy(const Exported& exported) {
  const Signature signature(exported, is_numpy_word);
  const std::string value = written(exported, kNumpy, signature.names());
  const std::string documentation = replaced(replaced(one_line(export_text(exported)), "\\", "\\\\"), "\"", "\\\"");
  std::string text = "import numpy as np\n\n\n" + signature.renamed("# ");
  text += "def " + signature.function() + "(" + signature.parameters("", ", ") + "):\n";
  text += "    \"\"\"" + documentation + "\"\"\"\n";
  for (const std::string& column : signature.columns()) {
    const std::string name = signature.names().variable(column);
    text += "    " + name + " = np.asarray(" + name + ", dtype=float)\n";
  }
  return text + "    return " + value;
}

std::string export_c(const Exported& exported) {
  const Signature signature(exported, is_c_word);
  const std::string value = written(exported, kC, signature.names());
  const std::string sign = "sign_of_" + signature.function();
  std::string comment = one_line(export_text(exported)) + "\n" + signature.renamed("   ");
  comment.pop_back();
  comment = replaced(replaced(comment, "*/", "* /"), "/*", "/ *");
  std::string text = "#include <math.h>\n\n";
  if (contains_word(value, sign)) {
    text += "static double " + sign + "(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }\n\n";
  }
  const std::string parameters = signature.columns().empty() ? "void" : signature.parameters("double ", ", ");
  return text + "/* " + comment + " */\ndouble " + signature.function() + "(" + parameters + ") {\n  return " + value +
         ";\n}";
}

std::string export_sympy(const Exported& exported) {
  const Signature signature(exported, is_sympy_word);
  std::string value = written(exported, kSympy, signature.names());
  if (is_integer(exported.formula)) value = "Integer(" + value + ")";  // alone it would be a number of Python's

  const std::string program = signature.symbols(exported.positive) + signature.function() + " = " + value;
  std::string imports;
  for (const std::string_view name : kSympyNames) {
    if (!contains_word(program, name)) continue;
    imports += imports.empty() ? "from sympy import " : ", ";
    imports += name;
  }
  return imports + "\n" + signature.renamed("# ") + program;
}

}  // namespace nalm::formula
