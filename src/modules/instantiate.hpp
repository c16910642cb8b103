// Turns a module's header, which speaks of one sample of one run, into kernels over batches of bundles.
// Compiled once per module and instruction set.
#pragma once

#include "modules/kernels.hpp"
#include "simd/functions.hpp"

namespace nalm::simd::NALM_TARGET {

// The shape of the benchmark, known to the compiler: loops unroll and arrays become registers.
template <int I, int O>
struct FixedShape {
  static constexpr int inputs = I, outputs = O;
  const std::array<double, max_options>& options;
};

template <int I, int O, class Quantities>
constexpr int fixed_count(const Quantities& quantities) {
  int count = 0;
  for (const auto& q : quantities) count += size_of(q.axes, I, O, 0);
  return count;
}

template <class M>
concept HasSteps = requires { M::steps; };

template <class M, class S>
struct Kernels {
  using T = Lanes<S>;

  static const T* lanes(const S* p) { return reinterpret_cast<const T*>(p); }
  static T* lanes(S* p) { return reinterpret_cast<T*>(p); }

  // Only the benchmark's shape is worth the compile time, and paths are not known to the compiler.
  static bool is_fixed(const LayerShape& s) {
    return M::info.path_option < 0 && s.inputs == 2 && s.outputs == 1;
  }

  static void weights(const LayerShape& s, const S* p, S* w) { M::weights(s, lanes(p), lanes(w)); }

  static void forward(const LayerShape& s, const S* p, const S* w, const S* x, S* y, S* step, int step_stride,
                      int samples) {
    const T *vx = lanes(x), *vp = lanes(p), *vw = lanes(w);
    T *vy = lanes(y), *vstep = lanes(step);
    for (int k = 0; k < samples; ++k) {
      M::forward(s, vp, vw, vx + k * s.inputs, vy + k * s.outputs, vstep + k * step_stride);
    }
  }

  static void backward(const LayerShape& s, const S* p, const S* w, const S* x, const S* y, const S* step,
                       int step_stride, const S* dy, S* dx, S* dp, S* dw, int samples) {
    const T *vx = lanes(x), *vy = lanes(y), *vp = lanes(p), *vw = lanes(w), *vstep = lanes(step), *vdy = lanes(dy);
    T *vdx = dx ? lanes(dx) : nullptr, *vdp = lanes(dp), *vdw = lanes(dw);
    for (int k = 0; k < samples; ++k) {
      M::backward(s, vp, vw, vx + k * s.inputs, vy + k * s.outputs, vstep + k * step_stride, vdy + k * s.outputs,
                  vdx ? vdx + k * s.inputs : nullptr, vdp, vdw);
    }
  }

  static void learn(const LayerShape& s, const S* p, const S* w, const S* x, const S* t, double scale, S* step, S* dp,
                    S* dw, int samples) {
    if constexpr (M::info.path_option < 0) {
      if (is_fixed(s)) return learn_fixed<2, 1>(s, lanes(p), lanes(w), lanes(x), lanes(t), scale, lanes(dp), lanes(dw), samples);
    }
    learn_any(s, lanes(p), lanes(w), lanes(x), lanes(t), scale, lanes(step), lanes(dp), lanes(dw), samples);
  }

  static void learn_any(const LayerShape& s, const T* p, const T* w, const T* x, const T* t, double scale, T* step,
                        T* dp, T* dw, int samples) {
    // The last 2 * outputs entries of the scratch hold y and dy of one sample.
    T *y = step, *dy = step + s.outputs, *kept = step + 2 * s.outputs;
    for (int k = 0; k < samples; ++k) {
      M::forward(s, p, w, x + k * s.inputs, y, kept);
      for (int o = 0; o < s.outputs; ++o) dy[o] = (y[o] - t[k * s.outputs + o]) * scale;
      M::backward(s, p, w, x + k * s.inputs, y, kept, dy, static_cast<T*>(nullptr), dp, dw);
    }
  }

  template <int I, int O>
  static void learn_fixed(const LayerShape& any, const T* p, const T* w, const T* x, const T* t, double scale, T* dp,
                          T* dw, int samples) {
    constexpr int P = fixed_count<I, O>(M::parameters), W = fixed_count<I, O>(M::weights_info), K = fixed_steps<I, O>();
    const FixedShape<I, O> s{any.options};
    T local_p[P], local_w[W], local_dp[P], local_dw[W];
    copy(p, local_p, P);
    copy(w, local_w, W);
    copy(dp, local_dp, P);
    copy(dw, local_dw, W);
    const T factor(scale);
    for (int k = 0; k < samples; ++k) {
      T sample[I], y[O], dy[O], step[K];
      copy(x + k * I, sample, I);
      M::forward(s, local_p, local_w, sample, y, step);
      for (int o = 0; o < O; ++o) dy[o] = (y[o] - t[k * O + o]) * factor;
      M::backward(s, local_p, local_w, sample, y, step, dy, static_cast<T*>(nullptr), local_dp, local_dw);
    }
    copy(local_dp, dp, P);
    copy(local_dw, dw, W);
  }

  static void squared_error(const LayerShape& s, const S* p, const S* w, const S* x, const S* t, S* y, S* step,
                            double* sums, int samples) {
    if constexpr (M::info.path_option < 0) {
      if (is_fixed(s)) return squared_error_fixed<2, 1>(s, lanes(p), lanes(w), lanes(x), lanes(t), sums, samples);
    }
    DoubleSums sum(sums);
    for (int k = 0; k < samples; ++k) {
      M::forward(s, lanes(p), lanes(w), lanes(x) + k * s.inputs, lanes(y), lanes(step));
      for (int o = 0; o < s.outputs; ++o) sum.add_square(lanes(y)[o] - lanes(t)[k * s.outputs + o]);
    }
    sum.store(sums);
  }

  template <int I, int O>
  static void squared_error_fixed(const LayerShape& any, const T* p, const T* w, const T* x, const T* t, double* sums,
                                  int samples) {
    constexpr int P = fixed_count<I, O>(M::parameters), W = fixed_count<I, O>(M::weights_info), K = fixed_steps<I, O>();
    const FixedShape<I, O> s{any.options};
    T local_p[P], local_w[W];
    copy(p, local_p, P);
    copy(w, local_w, W);
    DoubleSums sum(sums);
    for (int k = 0; k < samples; ++k) {
      T sample[I], y[O], step[K];
      copy(x + k * I, sample, I);
      M::forward(s, local_p, local_w, sample, y, step);
      for (int o = 0; o < O; ++o) sum.add_square(y[o] - t[k * O + o]);
    }
    sum.store(sums);
  }

  static void pull_back(const LayerShape& s, const S* p, const S* w, const S* dw, S* dp) {
    M::pull_back(s, lanes(p), lanes(w), lanes(dw), lanes(dp));
  }

  static constexpr LayerKernels<S> table() {
    return {weights, forward, backward, learn, squared_error, pull_back};
  }

 private:
  static HWY_INLINE void copy(const T* from, T* to, int n) {
    for (int k = 0; k < n; ++k) to[k] = from[k];
  }

  template <int I, int O>
  static constexpr int fixed_steps() {
    if constexpr (HasSteps<M>) {
      return fixed_count<I, O>(M::steps);
    } else {
      return 1;
    }
  }

  // Squares are taken and summed in double, whatever the lanes are.
  class DoubleSums {
    static constexpr int parts = static_cast<int>(T::count / Lanes<double>::count);

   public:
    explicit DoubleSums(const double* from) {
      for (int k = 0; k < parts; ++k) sum_[k] = Lanes<double>::load(from + k * Lanes<double>::count);
    }
    HWY_INLINE void add_square(T difference) {
      if constexpr (parts == 1 && sizeof(S) == 8) {
        sum_[0] += difference * difference;
      } else if constexpr (parts == 1) {
        const Lanes<double> d = hn::PromoteTo(Lanes<double>::D(), difference.v);
        sum_[0] += d * d;
      } else {
#if HWY_TARGET != HWY_SCALAR
        const hn::Half<typename T::D> half;
        const Lanes<double> lower = hn::PromoteTo(Lanes<double>::D(), hn::LowerHalf(half, difference.v));
        const Lanes<double> upper = hn::PromoteTo(Lanes<double>::D(), hn::UpperHalf(half, difference.v));
        sum_[0] += lower * lower;
        sum_[1] += upper * upper;
#endif
      }
    }
    void store(double* to) const {
      for (int k = 0; k < parts; ++k) sum_[k].store(to + k * Lanes<double>::count);
    }

   private:
    Lanes<double> sum_[parts];
  };
};

}  // namespace nalm::simd::NALM_TARGET

// Defines the table that the registry refers to.
#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)
#define NALM_DEFINE_KERNELS(Module)                                                                           \
  namespace nalm {                                                                                            \
  extern const ModuleKernels NALM_JOIN(kernels_##Module##_, NALM_TARGET);                                     \
  constinit const ModuleKernels NALM_JOIN(kernels_##Module##_, NALM_TARGET) = {                               \
      simd::NALM_TARGET::Kernels<Module, float>::table(), simd::NALM_TARGET::Kernels<Module, double>::table()}; \
  }
