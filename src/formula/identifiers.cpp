#include "formula/identifiers.hpp"

#include <algorithm>
#include <cstddef>

#include "formula/node.hpp"

namespace nalm::formula {

namespace {

// With the functions that the exports call.
constexpr std::string_view kPythonWords =
    "False None True and as assert async await break class continue def del elif else except finally for from "
    "global if import in is lambda nonlocal not or pass raise return try while with yield abs float math max min";

constexpr std::string_view kCKeywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline "
    "int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary "
    "_Noreturn _Static_assert _Thread_local";

// What math.h declares. With an f or l at the end there is each of them for float or long double.
constexpr std::string_view kCMathematics =
    "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs "
    "fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llogb llrint "
    "llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nextdown nexttoward nextup pow pow10 "
    "remainder remquo rint round roundeven scalb scalbln scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc "
    "y0 y1 yn double_t float_t fpclassify isfinite isgreater isgreaterequal isless islessequal islessgreater isnormal "
    "isunordered signbit signgam math_errhandling SNAN SNANF SNANL HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN MAXFLOAT "
    "M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2";

// Other names that a column may well have: a function called time would take the place of the C library's.
constexpr std::string_view kCLibrary =
    "abort accept access bind clock close connect div errno exit free index kill labs linux link listen main malloc "
    "open pause printf raise rand random read remove rename select send signal sleep stat std sync system time "
    "times truncate unix wait write";

bool is_word_character(char c) { return is_letter(c) || is_digit(c); }

// speed_km_h for "speed (km/h)".
std::string made_valid(std::string_view name) {
  std::string identifier;
  if (std::all_of(name.begin(), name.end(), is_word_character)) {
    identifier = name;
  } else {
    bool gap = false;
    for (const char c : name) {
      if (!is_word_character(c)) {
        gap = true;
        continue;
      }
      if (gap && !identifier.empty() && identifier.back() != '_' && c != '_') identifier += '_';
      gap = false;
      identifier += c;
    }
  }
  if (identifier.empty()) return "x";
  return is_digit(identifier[0]) ? "x_" + identifier : identifier;
}

}  // namespace

bool contains_word(std::string_view text, std::string_view identifier) {
  for (std::size_t k = text.find(identifier); k != std::string_view::npos; k = text.find(identifier, k + 1)) {
    const std::size_t end = k + identifier.size();
    if ((k == 0 || !is_word_character(text[k - 1])) && (end == text.size() || !is_word_character(text[end]))) {
      return true;
    }
  }
  return false;
}

// Python's own names begin with two underscores; some of them, such as __debug__, cannot be given to anything.
bool is_python_word(std::string_view name) { return name.starts_with("__") || contains_word(kPythonWords, name); }

// C keeps names like __func__ and _Float64 for compilers, and FP_NAN, MATH_ERRNO and their kind for math.h.
static bool is_kept_by_c(std::string_view name) {
  const bool is_compilers =
      name.starts_with("__") || (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
  return is_compilers || name.starts_with("FP_") || name.starts_with("MATH_");
}

bool is_c_word(std::string_view name) {
  if (is_kept_by_c(name)) return true;
  if (contains_word(kCKeywords, name) || contains_word(kCMathematics, name) || contains_word(kCLibrary, name)) {
    return true;
  }
  const bool has_suffix = name.ends_with('f') || name.ends_with('l');
  return has_suffix && contains_word(kCMathematics, name.substr(0, name.size() - 1));
}

std::string Identifiers::make(std::string_view name) {
  std::string first = made_valid(name);
  // What is reserved for its first letters needs others.
  if (is_reserved_(first)) first = first.starts_with('_') ? "x" + first : first + '_';
  std::string identifier = first;
  for (int k = 2; !taken_.insert(identifier).second; ++k) identifier = first + '_' + std::to_string(k);
  return identifier;
}

}  // namespace nalm::formula
