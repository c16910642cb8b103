// Turns a module's header, which speaks of one sample of one run, into kernels over batches of bundles.
// Compiled once per module and instruction set.
#pragma once

#include "modules/kernels.hpp"
#include "modules/loss.hpp"
#include "modules/module_header.hpp"
#include "modules/whole_forward.hpp"
#include "simd/functions.hpp"

namespace nalm::simd::NALM_TARGET {

// The shape of the benchmark, known to the compiler: loops unroll and arrays become registers.
template <int I, int O>
struct FixedShape {
  static constexpr int inputs = I, outputs = O;
  static constexpr bool is_known = true;  // see unpack
  const std::array<double, max_options>& options;
};

// Everything that is called inside is compiled into the function: a module's author writes plain functions, and the
// batch loop becomes one piece of code that keeps its values in registers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NALM_FLATTEN  // a sanitizer's checks, all in one function, would take minutes to compile
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NALM_FLATTEN
#endif
#endif
#ifndef NALM_FLATTEN
#define NALM_FLATTEN __attribute__((flatten))
#endif

template <int I, int O, class Quantities>
constexpr int fixed_count(const Quantities& quantities) {
  int count = 0;
  for (const auto& q : quantities) count += size_of(q.axes, I, O, 0);
  return count;
}

template <class M>
concept HasSteps = requires {
  M::steps;
};

template <class M, class S>
struct Kernels {
  using T = Lanes<S>;
  static constexpr int block = 4;  // samples in flight

  static const T* lanes(const S* p) { return reinterpret_cast<const T*>(p); }
  static T* lanes(S* p) { return reinterpret_cast<T*>(p); }

  // Only the benchmark's shape is worth the compile time, in the precision of the benchmark; and paths are not known to
  // the compiler.
  static constexpr bool has_fixed = M::info.path_option < 0 && sizeof(S) == 4;
  static bool is_fixed(const LayerShape& s) { return s.inputs == 2 && s.outputs == 1; }

  NALM_FLATTEN static void weights(const LayerShape& s, const S* p, S* w) { M::weights(s, lanes(p), lanes(w)); }

  NALM_FLATTEN static void prepare(const LayerShape& s, const S* x, S* prepared, int samples, bool finite) {
    if constexpr (HasPrepare<M>) {
      // Each input by itself, so the batch is one sample of many inputs, and as many of them are in flight as samples
      // are elsewhere: one logarithm after the other would wait for its own results.
      using B = Lanes<S, block>;
      const int values = samples * s.inputs, blocks = values / block, done = blocks * block;
      prepare_values(s, reinterpret_cast<const B*>(x), reinterpret_cast<B*>(prepared), blocks, finite);
      prepare_values(s, lanes(x) + done, lanes(prepared) + done, values - done, finite);
    }
  }

  template <class V>
  static void prepare_values(const LayerShape& s, const V* x, V* prepared, int values, [[maybe_unused]] bool finite) {
    if constexpr (PreparesLogarithms<M> && sizeof(S) == 4) {  // in double nobody waits for it
      if (finite) {
        for (int k = 0; k < values; ++k) prepared[k] = log_of_normal(M::inside_logarithm(x[k]));
        return;
      }
    }
    LayerShape flat = s;
    flat.inputs = values;
    M::prepare(flat, x, prepared);
  }

  NALM_FLATTEN static void forward(const LayerShape& s, const S* p, const S* w, const S* x, S* y, S* step,
                                   int step_stride, int samples) {
    const T *vx = lanes(x), *vp = lanes(p), *vw = lanes(w);
    T *vy = lanes(y), *vstep = lanes(step);
    for (int k = 0; k < samples; ++k) {
      whole_forward<M>(s, vp, vw, vx + k * s.inputs, vy + k * s.outputs, vstep + k * step_stride);
    }
  }

  NALM_FLATTEN static void training_forward(const LayerShape& s, const S* p, const S* w, const S* x, const S* noise,
                                            S* y, S* step, int step_stride, int samples) {
    const T *vx = lanes(x), *vp = lanes(p), *vw = lanes(w), *vn = noise ? lanes(noise) : nullptr;
    T *vy = lanes(y), *vstep = lanes(step);
    for (int k = 0; k < samples; ++k, vx += s.inputs, vy += s.outputs, vstep += step_stride) {
      if constexpr (HasPrepare<M>) M::prepare(s, vx, vstep);
      nalm::training_forward<M>(s, vp, vw, vx, vn, vy, vstep);
      if (vn) vn += s.inputs;
    }
  }

  NALM_FLATTEN static void backward(const LayerShape& s, const S* p, const S* w, const S* x, const S* y, const S* step,
                                    int step_stride, const S* dy, S* dx, S* dp, S* dw, int samples) {
    const T *vx = lanes(x), *vy = lanes(y), *vp = lanes(p), *vw = lanes(w), *vstep = lanes(step), *vdy = lanes(dy);
    T *vdx = dx ? lanes(dx) : nullptr, *vdp = lanes(dp), *vdw = lanes(dw);
    for (int k = 0; k < samples; ++k) {
      M::backward(s, vp, vw, vx + k * s.inputs, vy + k * s.outputs, vstep + k * step_stride, vdy + k * s.outputs,
                  vdx ? vdx + k * s.inputs : nullptr, vdp, vdw);
    }
  }

  NALM_FLATTEN static void own_backward(const LayerShape& s, const S* p, const S* w, const S* x, const S* y,
                                        const S* step, int step_stride, const S* t, double scale, S* dx, S* dp, S* dw,
                                        int samples) {
    if constexpr (HasOwnLoss<M>) {
      for (int k = 0; k < samples; ++k) {
        M::own_backward(s, lanes(p), lanes(w), lanes(x) + k * s.inputs, lanes(y) + k * s.outputs,
                        lanes(step) + k * step_stride, lanes(t) + k * s.outputs, T(scale),
                        dx ? lanes(dx) + k * s.inputs : nullptr, lanes(dp), lanes(dw));
      }
    }
  }

  // The samples of a batch, walked along together.
  struct Batch {
    const T *x, *prepared, *noise, *t;
    Batch from(int sample, int inputs, int outputs) const {
      return {x + sample * inputs, prepared + sample * inputs, noise + sample * inputs, t + sample * outputs};
    }
  };

  static void learn(const LayerShape& s, const S* p, const S* w, const S* x, const S* prepared, const S* noise,
                    const S* t, double scale, const Loss* loss, S* step, S* dp, S* dw, int samples) {
    Batch batch{lanes(x), ready(prepared, x), lanes(M::info.takes_noise ? noise : x), lanes(t)};
    // Other losses than the squared error and the module's own are a call, and a call in the fast loop would cost it
    // its registers.
    if constexpr (has_fixed) {
      const int blocks = samples / block;
      if (is_fixed(s) && (!loss || is_own(loss))) {
        if (loss) {
          if constexpr (HasOwnLoss<M>)
            learn_blocks<2, 1, true>(s, lanes(p), lanes(w), batch, scale, lanes(dp), lanes(dw), blocks);
        } else {
          learn_blocks<2, 1, false>(s, lanes(p), lanes(w), batch, scale, lanes(dp), lanes(dw), blocks);
        }
        samples -= blocks * block;
        batch = batch.from(blocks * block, s.inputs, s.outputs);
      }
    }
    learn_any(s, lanes(p), lanes(w), batch, scale, loss, lanes(step), lanes(dp), lanes(dw), samples);
  }

  NALM_FLATTEN static void learn_any(const LayerShape& s, const T* p, const T* w, const Batch& batch, double scale,
                                     const Loss* loss, T* step, T* dp, T* dw, int samples) {
    // The last 2 * outputs entries of the scratch hold y and dy of one sample.
    T *y = step, *dy = step + s.outputs, *kept = step + 2 * s.outputs;
    for (int k = 0; k < samples; ++k) {
      const Batch here = batch.from(k, s.inputs, s.outputs);
      take_prepared(here.prepared, 0, s.inputs, kept);
      nalm::training_forward<M>(s, p, w, here.x, here.noise, y, kept);
      if constexpr (HasOwnLoss<M>) {
        if (is_own(loss)) {
          M::own_backward(s, p, w, here.x, y, kept, here.t, T(scale), static_cast<T*>(nullptr), dp, dw);
          continue;
        }
      }
      for (int o = 0; o < s.outputs; ++o) dy[o] = slope(loss, y[o], here.t[o]) * scale;
      M::backward(s, p, w, here.x, y, kept, dy, static_cast<T*>(nullptr), dp, dw);
    }
  }

  // A block of samples at a time, each with a sum of its own; the sums are added up at the end.
  template <int I, int O, bool own>
  NALM_FLATTEN static void learn_blocks(const LayerShape& any, const T* p, const T* w, Batch batch, double scale, T* dp,
                                        T* dw, int blocks) {
    using B = Lanes<S, block>;
    constexpr int P = fixed_count<I, O>(M::parameters), W = fixed_count<I, O>(M::weights_info), K = fixed_steps<I, O>();
    const FixedShape<I, O> s{any.options};
    B local_p[P], local_w[W], local_dp[P], local_dw[W];
    for (int k = 0; k < P; ++k) local_p[k] = B::same(p[k]), local_dp[k] = B(0.0);
    for (int k = 0; k < W; ++k) local_w[k] = B::same(w[k]), local_dw[k] = B(0.0);
    const B factor(scale);
    for (int k = 0; k < blocks; ++k, batch = batch.from(block, I, O)) {
      B sample[I], noise[I], y[O], dy[O], step[K];
      for (int i = 0; i < I; ++i) sample[i] = B::gather(batch.x + i, I);
      if constexpr (M::info.takes_noise) {
        for (int i = 0; i < I; ++i) noise[i] = B::gather(batch.noise + i, I);
      }
      if constexpr (HasPrepare<M>) {
        for (int i = 0; i < I; ++i) step[i] = B::gather(batch.prepared + i, I);
      }
      nalm::training_forward<M>(s, local_p, local_w, sample, noise, y, step);
      if constexpr (own) {
        B t[O];
        for (int o = 0; o < O; ++o) t[o] = B::gather(batch.t + o, O);
        M::own_backward(s, local_p, local_w, sample, y, step, t, factor, static_cast<B*>(nullptr), local_dp, local_dw);
      } else {
        for (int o = 0; o < O; ++o) dy[o] = (y[o] - B::gather(batch.t + o, O)) * factor;
        M::backward(s, local_p, local_w, sample, y, step, dy, static_cast<B*>(nullptr), local_dp, local_dw);
      }
    }
    for (int k = 0; k < P; ++k) dp[k] += local_dp[k].sum();
    for (int k = 0; k < W; ++k) dw[k] += local_dw[k].sum();
  }

  static void squared_error(const LayerShape& s, const S* p, const S* w, const S* x, const S* prepared, const S* t,
                            S* y, S* step, double* sums, int samples) {
    int k = 0;
    if constexpr (has_fixed) {
      if (is_fixed(s)) {
        k = samples / block * block;
        error_blocks<2, 1>(s, lanes(p), lanes(w), lanes(x), ready(prepared, x), lanes(t), sums, samples / block);
      }
    }
    DoubleSums<1> sum;
    for (; k < samples; ++k) {
      take_prepared(lanes(prepared), k, s.inputs, lanes(step));
      M::forward(s, lanes(p), lanes(w), lanes(x) + k * s.inputs, lanes(y), lanes(step));
      for (int o = 0; o < s.outputs; ++o) sum.add_square(lanes(y)[o] - lanes(t)[k * s.outputs + o]);
    }
    sum.add_to(sums);
  }

  template <int I, int O>
  NALM_FLATTEN static void error_blocks(const LayerShape& any, const T* p, const T* w, const T* x, const T* prepared,
                                        const T* t, double* sums, int blocks) {
    using B = Lanes<S, block>;
    constexpr int P = fixed_count<I, O>(M::parameters), W = fixed_count<I, O>(M::weights_info), K = fixed_steps<I, O>();
    const FixedShape<I, O> s{any.options};
    B local_p[P], local_w[W];
    for (int k = 0; k < P; ++k) local_p[k] = B::same(p[k]);
    for (int k = 0; k < W; ++k) local_w[k] = B::same(w[k]);
    DoubleSums<block> sum;
    for (int k = 0; k < blocks; ++k, x += block * I, prepared += block * I, t += block * O) {
      B sample[I], y[O], step[K];
      for (int i = 0; i < I; ++i) sample[i] = B::gather(x + i, I);
      if constexpr (HasPrepare<M>) {
        for (int i = 0; i < I; ++i) step[i] = B::gather(prepared + i, I);
      }
      M::forward(s, local_p, local_w, sample, y, step);
      for (int o = 0; o < O; ++o) sum.add_square(y[o] - B::gather(t + o, O));
    }
    sum.add_to(sums);
  }

  NALM_FLATTEN static void pull_back(const LayerShape& s, const S* p, const S* w, const S* dw, S* dp) {
    M::pull_back(s, lanes(p), lanes(w), lanes(dw), lanes(dp));
  }

  static constexpr LayerKernels<S> table() {
    LayerKernels<S> t{};
    t.weights = weights, t.forward = forward, t.backward = backward, t.squared_error = squared_error;
    t.pull_back = pull_back;
    if constexpr (sizeof(S) == 4) t.learn = learn;  // in double nobody waits for it, but for the compiler
    if constexpr (HasPrepare<M>) t.prepare = prepare;
    if constexpr (HasTrainingForm<M>) t.training_forward = training_forward;
    if constexpr (HasOwnLoss<M>) t.own_backward = own_backward;
    return t;
  }

 private:
  static bool is_own(const Loss* loss) { return HasOwnLoss<M> && loss && loss->kind == Loss::Kind::Own; }

  template <class V>
  static V slope(const Loss* loss, const V& y, const V& t) {
    if (loss) return loss_gradient(*loss, y, t);
    return y - t;
  }

  // A pointer to walk along with the samples; nobody looks at it where nothing is prepared.
  static const T* ready(const S* prepared, const S* x) { return lanes(HasPrepare<M> ? prepared : x); }

  static void take_prepared([[maybe_unused]] const T* prepared, [[maybe_unused]] int sample,
                            [[maybe_unused]] int inputs, [[maybe_unused]] T* step) {
    if constexpr (HasPrepare<M>) {
      for (int i = 0; i < inputs; ++i) step[i] = prepared[sample * inputs + i];
    }
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
  template <int N>
  class DoubleSums {
   public:
    HWY_INLINE void add_square(const Lanes<S, N>& difference) {
      if constexpr (sizeof(S) == 8) {
        lower_ += difference * difference;
      } else {
        const Widened<N> wide = widen(difference);
        lower_ += wide.lower * wide.lower;
        if constexpr (T::count > Lanes<double>::count) upper_ += wide.upper * wide.upper;
      }
    }
    void add_to(double* sums) const {
      constexpr std::size_t half = Lanes<double>::count;
      (Lanes<double>::load(sums) + lower_.sum()).store(sums);
      if constexpr (T::count > half) (Lanes<double>::load(sums + half) + upper_.sum()).store(sums + half);
    }

   private:
    Lanes<double, N> lower_ = 0.0, upper_ = 0.0;
  };
};

// A header that is not one has no kernels: what its author reads is what is wrong with it, and nothing that follows.
template <class M, bool is_header>
constexpr ModuleKernels kernels_of() {
  if constexpr (is_header) {
    return {Kernels<M, float>::table(), Kernels<M, double>::table()};
  } else {
    return {};
  }
}

}  // namespace nalm::simd::NALM_TARGET

// Defines the table that the registry refers to.
#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)
#define NALM_DEFINE_KERNELS(Module)                                                      \
  namespace nalm {                                                                       \
  extern const ModuleKernels NALM_JOIN(kernels_##Module##_, NALM_TARGET);                \
  constinit const ModuleKernels NALM_JOIN(kernels_##Module##_, NALM_TARGET) =            \
      simd::NALM_TARGET::kernels_of<modules::Module, check_header<modules::Module>()>(); \
  }
