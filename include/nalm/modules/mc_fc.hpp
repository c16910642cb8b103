// MC-FC: a layer that conserves mass, and MulMC-FC, the same on logarithms.
//
//   J_io = softmax over outputs of r_io,   gate_o = sigmoid(w_o + b_o)
//   MC-FC:     y_o = gate_o sum_i x_i J_io
//   MulMC-FC:  y_o = exp(gate_o sum_i J_io ln x_i + alpha_o)
//
// Two repairs for negative inputs: MulMC-FC-iNALU multiplies exp(... ln|x_i| ...) by prod_i (sign(x_i) J_io + 1 -
// J_io), MulMC-FC-RealNPU by cos(pi sum_i J_io g_i [x_i < 0]) with a gate g_i per input.
//
// Built in, and nearly everything: every input's mass is handed out to the outputs, so with one output J is 1 whatever
// r is. The sum, or the product, of all inputs is there from the start; only its scale (gate, alpha) is learned, and an
// input that should not count cannot be left out.
//
// Hoedt et al., "MC-LSTM: Mass-conserving LSTM", ICML 2021; signs after Mistry, Farrahi and Hare.
#pragma once

#include "nalm/detail/portable.hpp"
#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

namespace mc_fc {

inline constexpr double epsilon = 1.1920929e-7;     // the float32 machine epsilon, in double too
inline constexpr double smallest = 1.17549435e-38;  // the smallest normal float32, in double too
inline constexpr double pi = 3.14159265358979323846;

inline constexpr ParameterInfo parameter_r{
    "r", per_input_and_output, {Start::Kind::Orthogonal}, {}, "which output gets how much of an input (softmax)",
    {},  End::OneOutput};
inline constexpr ParameterInfo parameter_w{"w", per_output, {Start::Kind::Orthogonal}, {}, "output gate"};
inline constexpr ParameterInfo parameter_b{"b", per_output,   Start::constant(0), {}, "output gate, offset",
                                           {},  End::Anywhere};
inline constexpr ParameterInfo parameter_alpha{
    "alpha", per_output, Start::constant(0), {}, "logarithm of a constant factor", {}, End::Zero};
inline constexpr ParameterInfo parameter_g{"g", per_input, Start::constant(0.5), Clamp{0, 1},
                                           "sign gate: 1 counts the sign of the input, 0 ignores it"};

inline constexpr double no_scale[] = {0};
inline constexpr Quantity weight_J{"J", per_input_and_output, "exp(r_io)/sum_k exp(r_ik)", Role::Weight,
                                   discrete::bits};
inline constexpr Quantity weight_gate{"gate", per_output, "sigmoid(w + b)", Role::Gate, discrete::bits, true};

inline constexpr std::string_view citation = "Hoedt et al.: MC-LSTM: Mass-conserving LSTM, ICML 2021";

struct Shares {
  // J, then the gates.
  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* out) {
    const int n = s.inputs * s.outputs;
    for (int i = 0; i < s.inputs; ++i) {
      const T* row = p + i * s.outputs;
      for (int o = 0; o < s.outputs; ++o) {
        T sum = 0.0;  // relative to this one, so that nothing overflows
        for (int k = 0; k < s.outputs; ++k) sum += exp(row[k] - row[o]);
        out[i * s.outputs + o] = 1.0 / sum;
      }
    }
    for (int o = 0; o < s.outputs; ++o) out[n + o] = sigmoid(p[n + o] + p[n + s.outputs + o]);
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* w, const T* dw, T* dp) {
    const int n = s.inputs * s.outputs;
    for (int i = 0; i < s.inputs; ++i) {
      const T *row = w + i * s.outputs, *d_row = dw + i * s.outputs;
      T mean = 0.0;
      for (int o = 0; o < s.outputs; ++o) mean += row[o] * d_row[o];
      for (int o = 0; o < s.outputs; ++o) dp[i * s.outputs + o] += row[o] * (d_row[o] - mean);
    }
    for (int o = 0; o < s.outputs; ++o) {
      const T d = dw[n + o] * (w[n + o] * (1.0 - w[n + o]));
      dp[n + o] += d;
      dp[n + s.outputs + o] += d;
    }
  }
};

}  // namespace mc_fc

struct McFc : mc_fc::Shares {
  static constexpr ParameterInfo parameters[] = {mc_fc::parameter_r, mc_fc::parameter_w, mc_fc::parameter_b};
  static constexpr Quantity weights_info[] = {mc_fc::weight_J, mc_fc::weight_gate};
  static constexpr Quantity steps[] = {{"mass", per_output, "sum_i x_i*J_io"}};
  static constexpr Operation operations[] = {Operation::Add};
  static Recipe recipe() {
    Recipe r;
    r.layers[0].regularisers = {Regulariser::grow(10, 20000, 35000)};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "The gate's constant auxiliary input is 1, so its weight w and its offset b add up.",
      "Hoedt adds an output for mass to be thrown away; with one output, as in the benchmark, nothing can be.",
  };
  static constexpr ModuleInfo info{
      .name = "MC-FC",
      .title = "Mass-conserving fully connected layer",
      .citation = mc_fc::citation,
      .formula = "J = softmax over outputs of r; y_o = sigmoid(w_o + b_o)*sum_i x_i*J_io",
      .learned =
          "which output gets which input, and how much of its sum an output keeps; built in: with one output the sum "
          "of all inputs",
      .unusual_inputs = "NaN and infinities go through the sum; infinity with a share or gate of 0 is NaN.",
  };

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* mass) {
    const T *J = w, *gate = w + s.inputs * s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      mass[o] = weighted_sum(s, x, J, o);
      y[o] = gate[o] * mass[o];
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* mass,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const int n = s.inputs * s.outputs;
    const T *J = w, *gate = w + n;
    for (int o = 0; o < s.outputs; ++o) {
      dw[n + o] += dy[o] * mass[o];
      weighted_sum_back(s, x, J, o, dy[o] * gate[o], dx, dw);
    }
  }

  static Expression ideal(Readout& r, int o) { return r.snapped("gate", o) * snapped_sum(r, o, "J"); }
};

namespace mc_fc {

enum class Sign { None, INalu, RealNpu };

template <Sign sign_rule>
struct Mul : Shares {
  static constexpr bool gated = sign_rule == Sign::RealNpu;

  static constexpr ParameterInfo parameters[] = {parameter_r, parameter_w, parameter_b, parameter_alpha};
  static constexpr Quantity weights_info[] = {weight_J, weight_gate};
  static constexpr Operation operations[] = {Operation::Multiply};
  static Recipe recipe() {
    Recipe r;
    for (const char* parameter : {"r", "w", "b"}) {
      r.layers[0].regularisers.push_back(Regulariser::grow(10, 20000, 35000));
      r.layers[0].regularisers.back().parameter = parameter;
    }
    if (gated) r.layers[0].regularisers.push_back(Regulariser::sparsity(10, 20000, 35000, "g"));
    return r;
  }

  static constexpr std::string_view differences[] = {
      "As for MC-FC; alpha starts at 0 and is not regularised.",
      "With a sign of its own the logarithm is ln(|x| + eps), eps = 1.1920929e-7; without, ln(x), as published.",
  };
  static constexpr std::string_view unusual_inputs =
      sign_rule == Sign::None
          ? "negative inputs and NaN give NaN; 0 counts as 1.4e-76 (which is 0 in float); infinity with a share or "
            "gate of 0 is NaN."
          : "NaN gives NaN; 0 and denormals count as eps = 1.1920929e-7 (and the sign of an exact 0 is 0 in the sign "
            "product); infinity with a share or gate of 0 is NaN.";
  static constexpr Quantity steps[] = {
      {"logarithm", per_input, sign_rule == Sign::None ? "ln(x), as 2*ln(sqrt(x))" : "ln(|x| + eps)"},
      {"sum", per_output, "sum_i J_io*logarithm_i"},
      {"size", per_output, "exp(gate*sum + alpha)"},
      {"sign s", per_output,
       sign_rule == Sign::None    ? "1"
       : sign_rule == Sign::INalu ? "prod_i (sign(x_i)*J_io + 1 - J_io)"
                                  : "cos(pi*sum_i J_io*g_i where x_i < 0)"},
      {"sine", per_output, gated ? "sin of the same" : "0: not used"},
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    Shares::weights(s, p, w);
    const int n = s.inputs * s.outputs;
    if (gated) {
      for (int i = 0; i < s.inputs; ++i) w[n + s.outputs + i] = p[n + 3 * s.outputs + i];
    }
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* w, const T* x, T* y, T* step) {
    const int n = s.inputs * s.outputs;
    const T *J = w, *gate = w + n, *g = gate + s.outputs, *alpha = p + n + 2 * s.outputs;
    T *logarithm = step, *sums = logarithm + s.inputs, *size = sums + s.outputs, *signs = size + s.outputs,
      *sine = signs + s.outputs;
    for (int i = 0; i < s.inputs; ++i) {
      if constexpr (sign_rule == Sign::None) {
        logarithm[i] = 2.0 * log(max(smallest, sqrt(x[i])));  // NaN where x is negative, as a logarithm is
      } else {
        logarithm[i] = log(abs(x[i]) + epsilon);
      }
    }
    for (int o = 0; o < s.outputs; ++o) {
      T sum = J[o] * logarithm[0];
      for (int i = 1; i < s.inputs; ++i) sum += J[i * s.outputs + o] * logarithm[i];
      sums[o] = sum;
      size[o] = exp(gate[o] * sum + alpha[o]);
      signs[o] = 1.0;
      sine[o] = 0.0;
      if constexpr (sign_rule == Sign::INalu) {
        for (int i = 0; i < s.inputs; ++i) {
          const T share = J[i * s.outputs + o];
          signs[o] *= sign(x[i]) * share + 1.0 - share;
        }
      }
      if constexpr (gated) {
        T half_turns = 0.0;
        for (int i = 0; i < s.inputs; ++i) half_turns += J[i * s.outputs + o] * (g[i] * negative(x[i]));
        const auto circle = sincos(half_turns * pi);
        signs[o] = circle.cos;
        sine[o] = circle.sin;
      }
      y[o] = size[o] * signs[o];
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* y, const T* step, const T* dy,
                       T* dx, T* dp, T* dw) {
    const int n = s.inputs * s.outputs;
    const T *J = w, *gate = w + n, *g = gate + s.outputs;
    T *d_gate = dw + n, *dg = d_gate + s.outputs, *d_alpha = dp + n + 2 * s.outputs;
    const T *logarithm = step, *sums = logarithm + s.inputs, *size = sums + s.outputs, *sine = size + 2 * s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      const T d_exponent = dy[o] * y[o], d_sum = d_exponent * gate[o];
      d_gate[o] += d_exponent * sums[o];
      d_alpha[o] += d_exponent;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        dw[k] += d_sum * logarithm[i];
        if (dx) {
          if constexpr (sign_rule == Sign::None) {
            dx[i] += d_sum * J[k] / x[i];
          } else {
            dx[i] += d_sum * J[k] * (sign(x[i]) / (abs(x[i]) + epsilon));
          }
        }
        if constexpr (sign_rule == Sign::INalu) {
          // The other factors are multiplied anew: one of them may be 0.
          T others = dy[o] * size[o];
          for (int m = 0; m < s.inputs; ++m) {
            const T share = J[m * s.outputs + o];
            if (m != i) others *= sign(x[m]) * share + 1.0 - share;
          }
          dw[k] += others * (sign(x[i]) - 1.0);
        }
        if constexpr (gated) {
          const T d_half_turns = -(dy[o] * size[o] * sine[o]) * pi * negative(x[i]);
          dw[k] += d_half_turns * g[i];
          dg[i] += d_half_turns * J[k];
        }
      }
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* p, const T* w, const T* dw, T* dp) {
    Shares::pull_back(s, p, w, dw, dp);
    const int n = s.inputs * s.outputs;
    if (gated) {
      for (int i = 0; i < s.inputs; ++i) dp[n + 3 * s.outputs + i] += dw[n + s.outputs + i];
    }
  }

  static Expression ideal(Readout& r, int o) {
    const double gate = r.snapped("gate", o);
    const double alpha = r.snap(r.parameter("alpha", o), {mc_fc::no_scale}, "alpha");
    std::vector<Power> powers;
    Expression signs = 1.0, phase = 0.0;
    for (int i = 0; i < r.inputs(); ++i) {
      const double share = r.snapped("J", i, o);
      if (share == 0) continue;
      const double counted = gated ? r.snapped("g", i) : 1;
      // x to the power 1 has its sign already.
      const bool plain = sign_rule == Sign::None || (share == 1 && gate == 1 && counted == 1);
      powers.push_back({plain ? r.x(i) : abs(r.x(i)), gate * share});
      if (plain) continue;
      if (sign_rule == Sign::INalu) signs *= share * sign(r.x(i)) + (1 - share);
      if (gated) phase += (share * counted) * negative(r.x(i));
    }
    return portable::exp(alpha) * (product_of_powers(powers) * signs * cos(pi * phase));
  }
};

}  // namespace mc_fc

struct MulMcFc : mc_fc::Mul<mc_fc::Sign::None> {
  static constexpr ModuleInfo info{
      .name = "MulMC-FC",
      .title = "Multiplicative mass-conserving layer",
      .citation = mc_fc::citation,
      .formula = "y_o = exp(sigmoid(w_o + b_o)*sum_i J_io*ln(x_i) + alpha_o); J = softmax over outputs of r",
      .learned = "the scale of a product; built in: with one output the product of all inputs. Positive inputs only",
      .unusual_inputs = unusual_inputs,
      .positive_inputs = true,
  };
};

struct MulMcFcINalu : mc_fc::Mul<mc_fc::Sign::INalu> {
  static constexpr ModuleInfo info{
      .name = "MulMC-FC-iNALU",
      .title = "Multiplicative mass-conserving layer with iNALU's sign",
      .citation = "Hoedt et al., ICML 2021; sign after Schlör, Ring, Hotho, Frontiers in AI 2020",
      .formula =
          "y_o = exp(sigmoid(w_o + b_o)*sum_i J_io*ln(|x_i| + eps) + alpha_o)*prod_i (sign(x_i)*J_io + 1 - J_io); J = "
          "softmax over outputs of r",
      .learned = "the scale of a product; built in: with one output the product of all inputs and its sign",
      .unusual_inputs = unusual_inputs,
  };
};

struct MulMcFcRealNpu : mc_fc::Mul<mc_fc::Sign::RealNpu> {
  static constexpr ParameterInfo parameters[] = {mc_fc::parameter_r, mc_fc::parameter_w, mc_fc::parameter_b,
                                                 mc_fc::parameter_alpha, mc_fc::parameter_g};
  static constexpr Quantity weights_info[] = {
      mc_fc::weight_J, mc_fc::weight_gate, {"g", per_input, "g as it is", Role::Weight, discrete::bits}};
  static constexpr ModuleInfo info{
      .name = "MulMC-FC-RealNPU",
      .title = "Multiplicative mass-conserving layer with RealNPU's sign",
      .citation = "Hoedt et al., ICML 2021; sign after Heim, Pevný, Šmídl, NeurIPS 2020",
      .formula =
          "y_o = exp(sigmoid(w_o + b_o)*sum_i J_io*ln(|x_i| + eps) + alpha_o)*cos(pi*sum_i J_io*g_i where x_i < 0); J "
          "= softmax over outputs of r; g in [0, 1]",
      .learned =
          "the scale of a product and which signs count; built in: with one output the product of all magnitudes",
      .unusual_inputs = unusual_inputs,
  };
};

}  // namespace nalm::modules
