// Compiled like a kernel for the scalar target: one lane of simd/functions.hpp, so that a formula and the module that
// it comes from compute alike. Added here is what lanes need not know: special values, huge angles, and powers.
#include "nalm/detail/portable.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "simd/functions.hpp"

namespace nalm::portable {

namespace {

namespace lanes = simd::NALM_TARGET;
using Lane = lanes::Lanes<double, 1>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double number(const Lane& x) { return lanes::hn::GetLane(x.v.a); }

// ---- twice the digits: hi + lo, where lo is at most half of hi's last place -----------------------------------------

struct Pair {
  double hi, lo;
};
// Of a sum whose first operand is the larger one.
constexpr Pair quick_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
constexpr Pair exact_sum(double a, double b) {
  const double sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back)};
}
constexpr Pair exact_product(double a, double b) {
  // Halves of 26 bits, whose products are exact (Dekker).
  constexpr double splitter = 0x1p27 + 1;
  const double a_high = splitter * a - (splitter * a - a), a_low = a - a_high;
  const double b_high = splitter * b - (splitter * b - b), b_low = b - b_high;
  const double product = a * b;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}
constexpr Pair operator+(Pair a, Pair b) {
  const Pair sum = exact_sum(a.hi, b.hi);
  return quick_sum(sum.hi, sum.lo + (a.lo + b.lo));
}
constexpr Pair operator*(Pair a, double b) {
  const Pair product = exact_product(a.hi, b);
  return quick_sum(product.hi, product.lo + a.lo * b);
}
constexpr Pair operator*(Pair a, Pair b) {
  const Pair product = exact_product(a.hi, b.hi);
  return quick_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}
constexpr Pair operator/(Pair a, double b) {
  const double first = a.hi / b;
  const Pair back = exact_product(first, b);
  return quick_sum(first, ((a.hi - back.hi) - back.lo + a.lo) / b);
}

constexpr Pair ln_2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
// The same in two pieces, of which the first has 31 bits: its multiples up to 2^22 are exact.
constexpr double ln_2_start = 0x1.62e42feep-1;
constexpr Pair ln_2_rest{0x1.a39ef35793c76p-33, 0x1.cc01f97b57a08p-87};
constexpr Pair log10_e{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

// ---- log with twice the digits -------------------------------------------------------------------------------------

// 128 intervals of [sqrt(1/2), sqrt(2)): a factor of at most 9 bits that takes the interval's numbers close to 1, and
// the logarithm of its inverse.
struct LogEntry {
  double factor;
  Pair log;
};

constexpr std::int64_t sqrt_half_bits = lanes::Format<double>::sqrt_half_bits;

constexpr std::array<LogEntry, 128> make_log_table() {
  std::array<LogEntry, 128> table{};
  for (std::size_t k = 0; k < table.size(); ++k) {
    // The middle of the interval. The offset of its bits may carry into the exponent; then it lies above 1.
    const double middle =
        std::bit_cast<double>(sqrt_half_bits + (static_cast<std::int64_t>(k) << 45) + (std::int64_t{1} << 44));
    const double factor = static_cast<double>(static_cast<int>(256 / middle + 0.5)) / 256;
    // -log(factor) = 2 atanh(s), s = (1 - factor)/(1 + factor), |s| < 0.18: 34 terms give 107 bits.
    const Pair s = Pair{1 - factor, 0} / (1 + factor), square = s * s;
    Pair sum{0, 0};
    for (int power = 67; power >= 1; power -= 2) sum = sum * square + Pair{2, 0} / power;
    table[k] = {factor, s * sum};
  }
  return table;
}
constexpr std::array<LogEntry, 128> log_table = make_log_table();

// Of positive finite numbers, to 2^-66 of the result.
Pair precise_log(double x) {
  double exponent = 0;
  if (x < std::numeric_limits<double>::min()) x *= 0x1p54, exponent = -54;
  const std::int64_t from_half = std::bit_cast<std::int64_t>(x) - sqrt_half_bits;
  exponent += static_cast<double>(from_half >> 52);
  const double mantissa = std::bit_cast<double>((from_half & 0xfffffffffffff) + sqrt_half_bits);
  const LogEntry& entry = log_table[static_cast<std::size_t>(from_half >> 45) & 127];
  // The rest mantissa * factor - 1 without an error: 27 bits of the mantissa at a time.
  const double high = std::bit_cast<double>(std::bit_cast<std::int64_t>(mantissa) & ~std::int64_t{0x3ffffff});
  const Pair rest = exact_sum(high * entry.factor - 1, (mantissa - high) * entry.factor);
  const double r = rest.hi;  // below 2^-7
  // log(1 + r) = r - r^2/2 + r^3/3 - ...; only the first two terms need all digits.
  const double tail =
      r * r * r * (1.0 / 3 - r * (1.0 / 4 - r * (1.0 / 5 - r * (1.0 / 6 - r * (1.0 / 7 - r * (1.0 / 8 - r / 9))))));
  const Pair square = exact_product(r, -0.5 * r);
  const Pair whole = exact_sum(exponent * ln_2_start, entry.log.hi), more = exact_sum(whole.hi, r);
  const Pair all = exact_sum(more.hi, square.hi);
  return quick_sum(
      all.hi,
      all.lo + (more.lo +
                (whole.lo + (square.lo + (entry.log.lo + (exponent * ln_2_rest.hi + (tail + rest.lo * (1 - r))))))));
}

// ---- exp of a pair -------------------------------------------------------------------------------------------------

// 2^(k/64)
constexpr std::array<Pair, 64> make_power_table() {
  std::array<Pair, 64> table{};
  for (std::size_t k = 0; k < table.size(); ++k) {
    const Pair x = ln_2 * (static_cast<double>(k) / 64);
    Pair sum{1, 0};
    for (int n = 27; n >= 1; --n) sum = sum * x / n + Pair{1, 0};
    table[k] = sum;
  }
  return table;
}
constexpr std::array<Pair, 64> power_table = make_power_table();

// exp(x.hi + x.lo), rounded nearly once.
double exp_of(Pair x) {
  if (x.hi > 710) return infinity;
  if (x.hi < -746) return 0;
  // The nearest multiple of ln(2)/64. The product with the start of ln 2 is exact, and so is the difference.
  const double n = (x.hi * (64 * 1.4426950408889634) + lanes::Format<double>::magic) - lanes::Format<double>::magic;
  const Pair rest = exact_product(n / 64, ln_2_rest.hi);
  const Pair r = exact_sum(x.hi - n / 64 * ln_2_start, -rest.hi);
  const double z = r.hi;  // below 0.0055
  const double above_1 = z + ((r.lo - rest.lo + x.lo) * (1 + z) +
                              z * z * (0.5 + z * (1.0 / 6 + z * (1.0 / 24 + z * (1.0 / 120 + z * (1.0 / 720))))));
  const std::int64_t whole = static_cast<std::int64_t>(n), part = whole & 63;
  const Pair power = power_table[static_cast<std::size_t>(part)];
  return std::ldexp(power.hi + (power.lo + power.hi * above_1), static_cast<int>((whole - part) / 64));
}

// ---- angles --------------------------------------------------------------------------------------------------------

// An angle less the nearest multiple of pi/2, and that multiple modulo 4.
struct Reduced {
  double angle;
  int quarter;
};

// Beyond this, multiples of pi/2 no longer fit the three pieces in lanes.
constexpr double large_angle = 1e6;

// 2/pi, 64 bits at a time, as many as the largest double needs and 128 more.
constexpr std::uint64_t two_over_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// x = m 2^e: only those 192 bits of 2/pi count that m moves to just above and below the binary point; what stands
// before them gives multiples of 4 quarters (Payne and Hanek).
Reduced reduce(double x) {
  int exponent;
  const std::uint64_t mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
  exponent -= 53;
  // x * 2/pi = mantissa * 0.b1b2b3... * 2^exponent. Bits up to number exponent - 2 give multiples of 4.
  const int skipped = exponent - 2;
  const auto word = [&](int k) {
    const int bit = skipped + 64 * k;
    if (bit < 0) return bit <= -64 ? 0 : two_over_pi[0] >> -bit;
    const std::size_t index = static_cast<std::size_t>(bit) / 64;
    const int shift = bit % 64;
    return shift == 0 ? two_over_pi[index] : two_over_pi[index] << shift | two_over_pi[index + 1] >> (64 - shift);
  };
  // The product modulo 2^192, whose binary point stands below its second highest bit.
  __extension__ using Wide = unsigned __int128;
  const Wide low = static_cast<Wide>(mantissa) * word(2);
  const Wide middle = static_cast<Wide>(mantissa) * word(1) + (low >> 64);
  const std::uint64_t high = mantissa * word(0) + static_cast<std::uint64_t>(middle >> 64);
  const Wide product = static_cast<Wide>(high) << 64 | static_cast<std::uint64_t>(middle);
  // Rounded to the nearest quarter.
  const int quarter = static_cast<int>((product + (Wide{1} << 125)) >> 126) & 3;
  const Wide fraction = product << 2;  // of a quarter, as a signed number
  const bool is_negative = fraction >> 127 != 0;
  const Wide magnitude = is_negative ? ~fraction + 1 : fraction;
  const double share = static_cast<double>(static_cast<std::uint64_t>(magnitude >> 64)) * 0x1p-64 +
                       static_cast<double>(static_cast<std::uint64_t>(magnitude)) * 0x1p-128;
  const double angle = (is_negative ? -share : share) * 1.5707963267948966;
  return x < 0 ? Reduced{-angle, (4 - quarter) & 3} : Reduced{angle, quarter};
}

double sine(double x, int quarters_ahead) {
  if (!std::isfinite(x)) return not_a_number;
  const Reduced reduced = std::fabs(x) > large_angle ? reduce(x) : Reduced{x, 0};
  const auto both = lanes::sincos(Lane(reduced.angle));
  const int quarter = (reduced.quarter + quarters_ahead) & 3;
  const double value = number(quarter % 2 == 0 ? both.sin : both.cos);
  return quarter < 2 ? value : -value;
}

bool is_whole(double x) { return std::floor(x) == x; }
bool is_odd(double x) { return is_whole(x) && std::fabs(x) < 0x1p53 && std::fmod(x, 2) != 0; }

}  // namespace

double exp(double x) { return number(lanes::exp(Lane(x))); }

double expm1(double x) {
  if (x == 0 || !(std::fabs(x) < 40)) return x > 0 ? exp(x) : x == 0 || std::isnan(x) ? x : -1;
  const auto parts = lanes::exp_parts(Lane(x));
  const double power = number(lanes::power_of_two<double, 1>(parts.n));
  return power * number(parts.fraction) + (power - 1);
}

double log(double x) {
  if (!(x > 0)) return x == 0 ? -infinity : not_a_number;
  if (x < std::numeric_limits<double>::min()) return log(x * 0x1p54) - 54 * 0.6931471805599453;
  return number(lanes::log(Lane(x)));
}

double log1p(double x) {
  const double sum = 1 + x;
  if (sum == 1 || !(x < infinity)) return x;
  return x <= -1 ? log(sum) : log(sum) + (x - (sum - 1)) / sum;
}

double log10(double x) {
  if (!(x > 0) || x == infinity) return log(x);
  const Pair result = precise_log(x) * log10_e;
  return result.hi + result.lo;
}

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (y == 1) return x;
  if (y == 2) return x * x;
  if (std::isnan(x) || std::isnan(y)) return not_a_number;
  const double size = std::fabs(x), sign = x < 0 || (x == 0 && std::signbit(x)) ? -1 : 1;
  if (std::isinf(y)) return size == 1 ? 1 : (size > 1) == (y > 0) ? infinity : 0;
  if (size == 0 || size == infinity) return ((size == 0) == (y > 0) ? 0 : infinity) * (is_odd(y) ? sign : 1);
  if (x < 0 && !is_whole(y)) return not_a_number;
  const double factor = is_odd(y) ? sign : 1;
  if (size == 1) return factor;
  if (y == -1) return 1 / x;
  if (y == 0.5) return std::sqrt(x);
  // Beyond this every number but 1 overflows or vanishes, and products with it need no care.
  if (std::fabs(y) > 0x1p65) return (size > 1) == (y > 0) ? factor * infinity : factor * 0;
  return factor * exp_of(precise_log(size) * y);
}

double sin(double x) { return x == 0 ? x : sine(x, 0); }
double cos(double x) { return sine(x, 1); }
double asin(double x) { return number(lanes::asin(Lane(x))); }
double acos(double x) { return number(lanes::acos(Lane(x))); }
double tanh(double x) { return number(lanes::tanh(Lane(x))); }
double hypot(double x, double y) { return std::sqrt(x * x + y * y); }

}  // namespace nalm::portable
