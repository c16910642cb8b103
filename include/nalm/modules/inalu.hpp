// iNALU: sum and product with weights of their own, a sign for the product, and a gate that does not look at the input.
//
//   WA = tanh(W_hat_A) sigmoid(M_hat_A),   WM = tanh(W_hat_M) sigmoid(M_hat_M)
//   a_o = sum_i x_i WA_io
//   m_o = exp(min(sum_i WM_io ln(max(|x_i|, 1e-7)), 20)),   s_o = prod_i (sign(x_i) |WM_io| + 1 - |WM_io|)
//   y_o = sigmoid(g_o) a_o + (1 - sigmoid(g_o)) m_o s_o
//
// Schlör, Ring and Hotho, "iNALU: Improved Neural Arithmetic Logic Unit", Frontiers in Artificial Intelligence 2020.
#pragma once

#include "nalm/modules/nac_weights.hpp"

namespace nalm::modules {

namespace inalu {

inline constexpr double smallest = 1e-7;
inline constexpr double largest_exponent = 20;
inline constexpr Start start_W = Start::normal(0.88, 0.2), start_M = Start::normal(0.5, 0.2);
inline constexpr ParameterInfo parameter_g{
    "g", per_output, Start::normal(0, 0.2), {}, "gate: sum (large) or product (negative)"};
inline constexpr std::string_view logarithm_formula = "ln(max(|x|, 1e-7))";

// Shared: one W for both paths.
template <bool shared>
struct Mathematics : nac::Paths<shared ? 1 : 2, true> {
  static constexpr int sets = shared ? 1 : 2;

  static constexpr Quantity steps[] = {
      {"logarithm", per_input, logarithm_formula},
      {"sign factor", per_input_and_output, shared ? "sign(x)*|W| + 1 - |W|" : "sign(x)*|WM| + 1 - |WM|"},
      {"signs before", per_input_and_output, "the sign factors of earlier inputs, multiplied"},
      {"exponent", per_output, shared ? "sum_i W_io*logarithm_i" : "sum_i WM_io*logarithm_i"},
      {"summative path a", per_output, shared ? "sum_i x_i*W_io" : "sum_i x_i*WA_io"},
      {"multiplicative path m", per_output, "exp(min(exponent, 20))"},
      {"sign s", per_output, "the product of the sign factors"},
  };
  static constexpr auto& operations = all_operations;
  static Recipe recipe() {
    Recipe r;
    r.layers[0].regularisers = {Regulariser::saturate(0.05, 10000)};
    r.training.clip_value = 0.1;
    r.training.reinitialise = Reinitialise{};
    return r;
  }

  template <class T>
  static T inside_logarithm(const T& x) {
    return max(smallest, abs(x));
  }
  template <class T, class Shape>
  static void prepare(const Shape& s, const T* x, T* step) {
    for (int i = 0; i < s.inputs; ++i) step[i] = log(inside_logarithm(x[i]));
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const int n = s.inputs * s.outputs;
    const T *WA = w, *WM = w + 3 * (sets - 1) * n, *gate = w + 3 * sets * n;
    T *logarithm = step, *factor = logarithm + s.inputs, *before = factor + n, *exponent = before + n,
      *a = exponent + s.outputs, *m = a + s.outputs, *sign_product = m + s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      T sum = 0.0, log_sum = 0.0, product = 1.0;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        sum += x[i] * WA[k];
        log_sum += WM[k] * logarithm[i];
        factor[k] = sign(x[i]) * abs(WM[k]) + 1.0 - abs(WM[k]);
        before[k] = product;
        product *= factor[k];
      }
      exponent[o] = log_sum;
      a[o] = sum;
      m[o] = exp(min(largest_exponent, log_sum));
      sign_product[o] = product;
      y[o] = gate[o] * a[o] + (1.0 - gate[o]) * (m[o] * sign_product[o]);
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const int n = s.inputs * s.outputs;
    const T *WA = w, *WM = w + 3 * (sets - 1) * n, *gate = w + 3 * sets * n;
    T *dWA = dw, *dWM = dw + 3 * (sets - 1) * n, *d_gate = dw + 3 * sets * n;
    const T *logarithm = step, *factor = logarithm + s.inputs, *before = factor + n, *exponent = before + n,
            *a = exponent + s.outputs, *m = a + s.outputs, *sign_product = m + s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      const T d_sum = dy[o] * gate[o];
      const T d_product = dy[o] * (1.0 - gate[o]);
      const T d_exponent = where(exponent[o] <= largest_exponent, d_product * sign_product[o] * m[o], 0.0);
      d_gate[o] += dy[o] * (a[o] - m[o] * sign_product[o]);
      T after = d_product * m[o];
      for (int i = s.inputs - 1; i >= 0; --i) {
        const int k = i * s.outputs + o;
        const T d_factor = before[k] * after;
        dWA[k] += d_sum * x[i];
        dWM[k] += d_exponent * logarithm[i] + d_factor * ((sign(x[i]) - 1.0) * sign(WM[k]));
        if (dx) dx[i] += d_sum * WA[k] + where(abs(x[i]) >= smallest, d_exponent * WM[k] / x[i], 0.0);
        after *= factor[k];
      }
    }
  }

  static Expression ideal(Readout& r, int o) {
    const double gate = r.snapped("gate", o);
    Expression sum = 0.0, signs = 1.0;
    std::vector<Power> powers;
    // A path that the gate has closed needs no discrete weights.
    for (int i = 0; i < r.inputs(); ++i) {
      if (gate != 0) sum += r.snapped(shared ? "W" : "WA", i, o) * r.x(i);
      if (gate == 1) continue;
      const double w = r.snapped(shared ? "W" : "WM", i, o);
      const bool whole = std::fabs(w) == 1;  // then sign(x)*|x|^w is x^w
      powers.push_back({whole ? r.x(i) : abs(r.x(i)), w});
      if (!whole) signs *= std::fabs(w) * sign(r.x(i)) + (1 - std::fabs(w));
    }
    return gate * sum + (1 - gate) * (product_of_powers(powers) * signs);
  }
};

}  // namespace inalu

struct INalu : inalu::Mathematics<false> {
  static constexpr ParameterInfo parameters[] = {
      {"W_hat_A", per_input_and_output, inalu::start_W, {}, "sum: sign and selection", {}, End::FarOutOrZero},
      {"M_hat_A", per_input_and_output, inalu::start_M, {}, "sum: selection"},
      {"W_hat_M", per_input_and_output, inalu::start_W, {}, "product: sign and selection", {}, End::FarOutOrZero},
      {"M_hat_M", per_input_and_output, inalu::start_M, {}, "product: selection"},
      inalu::parameter_g,
  };
  static constexpr Quantity weights_info[] = {nac::WA,     nac::tanh_A,    nac::sigmoid_A, nac::WM,
                                              nac::tanh_M, nac::sigmoid_M, nac::gate_alone};

  static constexpr std::string_view differences[] = {
      "The floor of 1e-7 is a maximum, not an addition, and the cap of 20 acts on the summed exponent; the paper's "
      "formula clips each element. The gradient through m is 0 while the cap is active.",
      "The regulariser (the paper's 1/t with its t = 20) starts after 10000 iterations, while the validation error of "
      "the last log point is below 1.",
      "Start values are normal with deviation 0.2 and means 0.88, 0.5 and 0 (the paper recommends 1, -1 and 0).",
      "Re-initialisation looks at the validation error of the last log point, stored once per iteration and never "
      "trimmed, keeps the optimiser's state, and in the benchmark never fires.",
  };
  static constexpr ModuleInfo info{
      .name = "iNALU",
      .title = "Improved Neural Arithmetic Logic Unit",
      .citation = "Schlör, Ring, Hotho: iNALU: Improved Neural Arithmetic Logic Unit, Frontiers in AI 2020",
      .formula =
          "a = sum_i x_i*WA_io; m = exp(min(sum_i WM_io*ln(max(|x_i|, 1e-7)), 20)); s = prod_i (sign(x_i)*|WM_io| + 1 "
          "- |WM_io|); y_o = sigmoid(g_o)*a + (1 - sigmoid(g_o))*m*s; each W = tanh(W_hat)*sigmoid(M_hat)",
      .learned =
          "which inputs are added and which multiplied, with separate weights, and which of the two is the output",
      .unusual_inputs =
          "NaN gives NaN; magnitudes below 1e-7 count as 1e-7 in the product, whose sign factor for an exact "
          "0 is 1 - |WM|; products above e^20 = 4.85e8 are cut there; infinities give infinity or NaN.",
  };
};

}  // namespace nalm::modules
