// Compiled once per instruction set; see train/step_kernels.hpp.
#include "train/step_kernels.hpp"

#include "modules/loss.hpp"
#include "simd/functions.hpp"
#include "simd/xoshiro_lanes.hpp"

namespace nalm::simd::NALM_TARGET {

template <class S>
struct Steps {
  using T = Lanes<S>;
  static constexpr int L = static_cast<int>(T::count);

  static T at(const S* p, int k) { return T::load(p + k * L); }
  static void set(S* p, int k, T value) { value.store(p + k * L); }

  // m <- b1 m + (1-b1) g, v <- b2 v + (1-b2) g^2, p <- p - step m / (sqrt(v)/correction + eps)
  static void adam(S* p, const S* gradient, S* m, S* v, int n, const AdamStep& a) {
    const T beta1(a.beta1), beta2(a.beta2), rest1(1 - a.beta1), rest2(1 - a.beta2);
    const T step(a.step_size), correction(a.root_correction), epsilon(a.epsilon);
    for (int k = 0; k < n; ++k) {
      const T g = at(gradient, k);
      const T new_m = at(m, k) * beta1 + g * rest1;
      const T new_v = at(v, k) * beta2 + rest2 * g * g;
      set(m, k, new_m);
      set(v, k, new_v);
      set(p, k, at(p, k) - step * new_m / (sqrt(new_v) / correction + epsilon));
    }
  }

  static void rms_prop(S* p, const S* gradient, S* v, int n, const RmsProp& r) {
    const T decay(r.decay), rest(1 - r.decay), step(r.learning_rate), epsilon(r.epsilon);
    for (int k = 0; k < n; ++k) {
      const T g = at(gradient, k);
      const T new_v = at(v, k) * decay + rest * g * g;
      set(v, k, new_v);
      const T root = r.epsilon_inside_root ? sqrt(new_v + epsilon) : sqrt(new_v) + epsilon;
      set(p, k, at(p, k) - step * g / root);
    }
  }

  // min(|w|, |1 - |w||): towards 0 below one half, towards 1 above; half of each, that is nothing, at a tie.
  static void sparsity(const S* p, S* gradient, int n, double coefficient) {
    const T c(coefficient);
    for (int k = 0; k < n; ++k) {
      const T w = at(p, k), size = abs(w), distance = abs(1.0 - size);
      const T slope = where(size < distance, T(1.0), where(size == distance, T(0.0), sign(size - 1.0)));
      set(gradient, k, at(gradient, k) + c * (slope * sign(w)));
    }
  }

  // max(20 - |w|, 0)
  static void saturate(const S* p, S* gradient, int n, double coefficient, const S* active) {
    const T c = T(coefficient) * at(active, 0);
    for (int k = 0; k < n; ++k) {
      const T w = at(p, k);
      set(gradient, k, at(gradient, k) - where(abs(w) < 20.0, c * sign(w), 0.0));
    }
  }

  static void l1(const S* p, S* gradient, int n, double coefficient) {
    const T c(coefficient);
    for (int k = 0; k < n; ++k) set(gradient, k, at(gradient, k) + c * sign(at(p, k)));
  }

  // |1 - |w||
  static void unit(const S* p, S* gradient, int n, double coefficient) {
    const T c(coefficient);
    for (int k = 0; k < n; ++k) {
      const T w = at(p, k);
      set(gradient, k, at(gradient, k) + c * (sign(abs(w) - 1.0) * sign(w)));
    }
  }

  // -w^2
  static void grow(const S* p, S* gradient, int n, double coefficient) {
    const T c(2 * coefficient);
    for (int k = 0; k < n; ++k) set(gradient, k, at(gradient, k) - c * at(p, k));
  }

  static void clip_value(S* gradient, int n, double limit) {
    for (int k = 0; k < n; ++k) set(gradient, k, min(limit, max(-limit, at(gradient, k))));
  }

  static void add_squares(const S* gradient, int n, S* sum) {
    T total = at(sum, 0);
    for (int k = 0; k < n; ++k) total += at(gradient, k) * at(gradient, k);
    set(sum, 0, total);
  }

  static void norm_to_factor(S* sum, double limit) {
    const T factor = limit / (sqrt(at(sum, 0)) + 1e-6);
    set(sum, 0, min(1.0, factor));
  }

  static void multiply(S* gradient, int n, const S* factor) {
    const T f = at(factor, 0);
    for (int k = 0; k < n; ++k) set(gradient, k, at(gradient, k) * f);
  }

  static void clamp(S* p, int n, double lo, double hi) {
    for (int k = 0; k < n; ++k) set(p, k, min(hi, max(lo, at(p, k))));
  }

  static void error_gradient(const S* y, const S* t, S* dy, int n, double scale, const Loss& loss) {
    const T factor(scale);
    for (int k = 0; k < n; ++k) set(dy, k, loss_gradient(loss, at(y, k), at(t, k)) * factor);
  }

  static void broadcast(const S* from, S* to, int n) {
    for (int k = 0; k < n; ++k) set(to, k, T(static_cast<double>(from[k])));
  }

  static void tanh_of(const S* x, S* y, int n) {
    for (int k = 0; k < n; ++k) set(y, k, tanh(at(x, k)));
  }

  static void noise(std::uint32_t* state, S* out, int n, double lo, const S* hi) {
    XoshiroLanes<S> random(state);
    const T base(lo), width = (at(hi, 0) - base) * 0x1p-24;
    for (int k = 0; k < n; ++k) set(out, k, base + width * random.next());
    random.store(state);
  }

  static void add(const S* x, int n, S* sum) {
    T total = at(sum, 0);
    for (int k = 0; k < n; ++k) total += at(x, k);
    set(sum, 0, total);
  }

  static void add_squared_deviations(const S* x, int n, const S* mean, S* sum) {
    T total = at(sum, 0);
    const T middle = at(mean, 0);
    for (int k = 0; k < n; ++k) total += (at(x, k) - middle) * (at(x, k) - middle);
    set(sum, 0, total);
  }

  static constexpr StepKernels<S> table() {
    StepKernels<S> t{};
    t.adam = adam, t.rms_prop = rms_prop;
    t.sparsity = sparsity, t.saturate = saturate, t.l1 = l1, t.unit = unit, t.grow = grow;
    t.clip_value = clip_value, t.add_squares = add_squares, t.norm_to_factor = norm_to_factor, t.multiply = multiply;
    t.clamp = clamp, t.error_gradient = error_gradient, t.broadcast = broadcast, t.tanh = tanh_of;
    t.noise = noise, t.add = add, t.add_squared_deviations = add_squared_deviations;
    return t;
  }
};

}  // namespace nalm::simd::NALM_TARGET

#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)

namespace nalm {

extern const StepKernels<float> NALM_JOIN(float_steps_, NALM_TARGET);
extern const StepKernels<double> NALM_JOIN(double_steps_, NALM_TARGET);
constinit const StepKernels<float> NALM_JOIN(float_steps_, NALM_TARGET) = simd::NALM_TARGET::Steps<float>::table();
constinit const StepKernels<double> NALM_JOIN(double_steps_, NALM_TARGET) = simd::NALM_TARGET::Steps<double>::table();

}  // namespace nalm
