// RealNPU: products of real powers, with a gate per input that switches irrelevant inputs off.
//
//   g'_i = clamp(g_i, 0, 1),   r_i = g'_i (|x_i| + eps) + 1 - g'_i,   k_i = pi g'_i where x_i < 0, else 0
//   y_o = exp(sum_i W_io ln r_i) cos(sum_i W_io k_i)
//
// Heim, Pevný and Šmídl, "Neural Power Units", NeurIPS 2020.
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

namespace npu {

inline constexpr double epsilon = 1.1920929e-7;  // the float32 machine epsilon, in double too
inline constexpr double pi = 3.14159265358979323846;

inline constexpr Start gate_start = Start::constant(0.5);
inline constexpr ParameterInfo parameter_W_re{
    "W_re", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the power of each input", {}, End::Whole};
inline constexpr ParameterInfo parameter_W_im{
    "W_im", per_input_and_output, Start::constant(0), {}, "its imaginary part", {}, End::Zero};
inline constexpr ParameterInfo parameter_g{"g", per_input, gate_start, {}, "gate: 1 uses the input, 0 replaces it by 1",
                                           {},  End::Bit};
inline constexpr Quantity weight_re{"W_re", per_input_and_output, "W_re as it is", Role::Weight, discrete::whole};
inline constexpr Quantity weight_im{"W_im", per_input_and_output, "W_im as it is", Role::Imaginary, discrete::whole};
inline constexpr Quantity weight_gate{"gate", per_input, "g clamped to [0, 1]", Role::Gate, discrete::bits};

// What RealNPU and NPU have in common: the gated magnitude and phase of each input.
template <class T>
void gate_input(const T& x, const T& gate, T& magnitude, T& logarithm, T& phase) {
  magnitude = gate * (abs(x) + epsilon) + (1.0 - gate);
  logarithm = log(magnitude);
  phase = gate * pi * negative(x);
}

// The gradient of gate and input from those of logarithm and phase.
template <class T>
void gate_input_back(const T& x, const T& gate, const T& magnitude, const T& d_logarithm, const T& d_phase, T& d_gate,
                     T* dx) {
  const T d_magnitude = d_logarithm / magnitude;
  d_gate += d_magnitude * (abs(x) + epsilon - 1.0) + d_phase * (pi * negative(x));
  if (dx) *dx += d_magnitude * gate * sign(x);
}

// RealNPU, and NPU with imaginary powers behind the real ones and before the gates.
template <bool complex>
struct Mathematics {
  static constexpr int matrices = complex ? 2 : 1;

  static constexpr Quantity steps[] = {
      {"magnitude r", per_input, "gate*(|x| + eps) + 1 - gate"},
      {"logarithm", per_input, "ln(r)"},
      {"phase k", per_input, "pi*gate where x < 0, else 0"},
      {"size", per_output,
       complex ? "exp(sum_i (W_re_io*logarithm_i - W_im_io*k_i))" : "exp(sum_i W_re_io*logarithm_i)"},
      {"sine", per_output, complex ? "sin(sum_i (W_re_io*k_i + W_im_io*logarithm_i))" : "sin(sum_i W_re_io*k_i)"},
  };
  static constexpr Operation operations[] = {Operation::Multiply, Operation::Divide};
  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 5e-3};
    r.layers[0].regularisers = {Regulariser::l1(1e-7, 1e-5)};
    return r;
  }

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = matrices * s.inputs * s.outputs;
    for (int k = 0; k < n; ++k) w[k] = p[k];
    for (int i = 0; i < s.inputs; ++i) w[n + i] = min(1.0, max(0.0, p[n + i]));
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const int n = s.inputs * s.outputs;
    const T *W_re = w, *W_im = w + n, *gate = w + matrices * n;
    const auto [magnitude, logarithm, phase, size, sine] = unpack<steps>(s, step);
    for (int i = 0; i < s.inputs; ++i) gate_input(x[i], gate[i], magnitude[i], logarithm[i], phase[i]);
    for (int o = 0; o < s.outputs; ++o) {
      const auto in_log = [&](int k, const T& log, const T& turn) {
        T part = W_re[k] * log;
        if constexpr (complex) part -= W_im[k] * turn;
        return part;
      };
      const auto in_angle = [&](int k, const T& log, const T& turn) {
        T part = W_re[k] * turn;
        if constexpr (complex) part += W_im[k] * log;
        return part;
      };
      T log_sum = in_log(o, logarithm[0], phase[0]), angle = in_angle(o, logarithm[0], phase[0]);
      for (int i = 1; i < s.inputs; ++i) {
        log_sum += in_log(i * s.outputs + o, logarithm[i], phase[i]);
        angle += in_angle(i * s.outputs + o, logarithm[i], phase[i]);
      }
      real_part(log_sum, angle, size[o], sine[o], y[o]);
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* y, const T* step, const T* dy,
                       T* dx, T* /*dp*/, T* dw) {
    const int n = s.inputs * s.outputs;
    const T *W_re = w, *W_im = w + n, *gate = w + matrices * n;
    T *dW_re = dw, *dW_im = dw + n, *d_gate = dw + matrices * n;
    const auto [magnitude, logarithm, phase, size, sine] = unpack<steps>(s, step);
    for (int i = 0; i < s.inputs; ++i) {
      T d_logarithm = 0.0, d_phase = 0.0;
      for (int o = 0; o < s.outputs; ++o) {
        const int k = i * s.outputs + o;
        const T d_log_sum = dy[o] * y[o], d_angle = -(dy[o] * size[o] * sine[o]);
        T to_logarithm = d_log_sum * W_re[k], to_phase = d_angle * W_re[k];
        dW_re[k] += d_log_sum * logarithm[i] + d_angle * phase[i];
        if constexpr (complex) {
          dW_im[k] += d_angle * logarithm[i] - d_log_sum * phase[i];
          to_logarithm += d_angle * W_im[k];
          to_phase -= d_log_sum * W_im[k];
        }
        d_logarithm += to_logarithm;
        d_phase += to_phase;
      }
      gate_input_back(x[i], gate[i], magnitude[i], d_logarithm, d_phase, d_gate[i], dx ? dx + i : nullptr);
    }
  }

  // The gate's gradient passes on the closed interval [0, 1].
  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* p, const T* /*w*/, const T* dw, T* dp) {
    const int n = matrices * s.inputs * s.outputs;
    for (int k = 0; k < n; ++k) dp[k] += dw[k];
    for (int k = n; k < n + s.inputs; ++k) dp[k] += where(p[k] >= 0.0, where(p[k] <= 1.0, dw[k], 0.0), 0.0);
  }
};

// prod x^W for real W and decided gates. Whole powers carry their sign; of the others the magnitude is raised and the
// phases are collected in one cosine.
inline Expression ideal(Readout& r, int o) {
  std::vector<Power> powers;
  Expression phase = 0.0;
  for (int i = 0; i < r.inputs(); ++i) {
    const double w = r.snapped("W_re", i, o);
    if (w == 0) continue;
    const double gate = r.snapped("gate", i);
    const bool whole = w == std::round(w) && gate == 1;
    powers.push_back({whole ? r.x(i) : gate * abs(r.x(i)) + (1 - gate), w});
    if (!whole) phase += w * (gate * negative(r.x(i)));
  }
  return product_of_powers(powers) * cos(pi * phase);
}

}  // namespace npu

struct RealNpu : npu::Mathematics<false> {
  static constexpr ParameterInfo parameters[] = {npu::parameter_W_re, npu::parameter_g};
  static constexpr Quantity weights_info[] = {npu::weight_re, npu::weight_gate};
  static constexpr std::string_view differences[] = {
      "The gate is clamped in the forward pass only; the stored g drifts outside [0, 1], where only the L1 penalty "
      "moves it, and comes back thousands of iterations later. The published success rates depend on it.",
      "eps is the float32 machine epsilon, added to |x| before gating.",
      "L1 is a plain sum over W_re and the raw g; its strength grows tenfold at iterations 10000 and 20000 and then "
      "stays.",
      "Two equations of the paper's draft attach the phase to positive inputs; it belongs to negative ones.",
  };
  static constexpr ModuleInfo info{
      .name = "RealNPU",
      .title = "Neural Power Unit, real",
      .citation = "Heim, Pevný, Šmídl: Neural Power Units, NeurIPS 2020",
      .formula =
          "r_i = g_i*(|x_i| + eps) + 1 - g_i; k_i = pi*g_i where x_i < 0, else 0; "
          "y_o = exp(sum_i W_re_io*ln(r_i))*cos(sum_i W_re_io*k_i); g clamped to [0, 1], eps = 1.1920929e-7",
      .learned = "the power of each input (1 multiplies, -1 divides, 0.5 takes the root) and which inputs matter",
      .unusual_inputs =
          "0 and denormals count as eps (a gate of 0 makes them 1); NaN gives NaN; an infinite input gives infinity or "
          "0 by its power, NaN with power or gate 0; phases are reduced safely, so the cosine stays within [-1, 1].",
      .chaotic = true,
  };

  static Expression ideal(Readout& r, int o) { return npu::ideal(r, o); }
};

}  // namespace nalm::modules
