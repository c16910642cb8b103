// Compiled once per instruction set; see simd/function_kernels.hpp.
#include "simd/function_kernels.hpp"

#include "simd/functions.hpp"

namespace nalm::simd::NALM_TARGET {

template <class S, class F>
static void over(const S* in, S* out, int n, F f) {
  constexpr int step = static_cast<int>(Lanes<S>::count);
  const auto* lanes = reinterpret_cast<const Lanes<S>*>(in);
  for (int k = 0; k < n; k += 4 * step, lanes += 4) {
    const Lanes<S, 4> result = f(Lanes<S, 4>::gather(lanes, 1));
    hn::Store(result.v.a, RegisterTag<S>(), out + k);
    hn::Store(result.v.b, RegisterTag<S>(), out + k + step);
    hn::Store(result.v.c, RegisterTag<S>(), out + k + 2 * step);
    hn::Store(result.v.d, RegisterTag<S>(), out + k + 3 * step);
  }
}

template <class S>
struct Functions {
  using T = Lanes<S, 4>;
  static constexpr FunctionKernel<S> table[] = {
      {"exp", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return exp(x); }); }},
      {"log", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return log(x); }); }},
      {"sin", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return sin(x); }); }},
      {"cos", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return cos(x); }); }},
      {"sincos",
       [](const S* in, S* out, int n) {
         over(in, out, n, [](T x) HWY_ATTR {
           const auto both = sincos(x);
           return both.sin + both.cos;
         });
       }},
      {"asin", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return asin(x); }); }},
      {"acos", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return acos(x); }); }},
      {"tanh", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return tanh(x); }); }},
      {"sigmoid", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return sigmoid(x); }); }},
      {"sigmoid_fast",
       [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return sigmoid_fast(x); }); }},
      {"sign", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return sign(x); }); }},
      {"negative", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return negative(x); }); }},
      {"min(1, x)", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return min(1.0, x); }); }},
      {"max(1, x)", [](const S* in, S* out, int n) { over(in, out, n, [](T x) HWY_ATTR { return max(1.0, x); }); }},
  };
};

}  // namespace nalm::simd::NALM_TARGET

#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)

namespace nalm::simd {

extern const std::span<const FunctionKernel<float>> NALM_JOIN(float_functions_, NALM_TARGET);
extern const std::span<const FunctionKernel<double>> NALM_JOIN(double_functions_, NALM_TARGET);
constinit const std::span<const FunctionKernel<float>> NALM_JOIN(float_functions_,
                                                                 NALM_TARGET) = NALM_TARGET::Functions<float>::table;
constinit const std::span<const FunctionKernel<double>> NALM_JOIN(double_functions_,
                                                                  NALM_TARGET) = NALM_TARGET::Functions<double>::table;

}  // namespace nalm::simd
