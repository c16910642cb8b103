// NALU-vote: a sum or a product, whichever comes nearer to the targets; nobody says which.
//
//   a_o = sum_i x_i W_sum_io
//   m_o = prod_i |x_i|^W_product_io * prod_i sign(x_i)^round(W_product_io)
//   y_o = a_o where choice_o > 1/2, else m_o;   both W in [-1, 1], driven towards {-1, 0, 1}
//
// It is the NALU's idea, a sum and a product in log space with a gate between them, and each of its three parts learns
// from every sample with the loss that suits it:
//
//   the sum       (a - t)^2, as the NAU
//   the product   (ln|m| - ln|t|)^2, as the NRU-log: quadratic in the powers, and blind to signs, which follow from
//   them the choice    a vote: every sample moves it towards the part that comes nearer to its target
//
// Neither path has to learn through a gate, and the gate has nothing to learn through the paths. A majority decides,
// not a mean: a quotient with a denominator near 0 has one vote like any other, however large it is.
//
// docs/results/one-unit.md has the study from which this module came.
#pragma once

#include "nalm/modules/nru.hpp"

namespace nalm::modules {

struct NaluVote : RawMatrices<2>, nru::Logarithms {
  static constexpr double largest_exponent = 88;  // e^88 = 1.7e38 is a float32

  static constexpr ParameterInfo parameters[] = {
      {"W_sum", per_input_and_output, {Start::Kind::Nau}, Clamp{-1, 1}, "sum: 1 adds, -1 subtracts, 0 ignores"},
      {"W_product",
       per_input_and_output,
       {Start::Kind::Nau},
       Clamp{-1, 1},
       "product: 1 multiplies, -1 divides, 0 ignores"},
      {"choice",
       per_output,
       Start::constant(1),
       Clamp{0, 1},
       "above 1/2 takes the sum, else the product",
       {},
       End::Bit},
  };
  static constexpr Quantity weights_info[] = {
      {"W_sum", per_input_and_output, "W_sum as it is", Role::Detail, discrete::units},
      {"W_product", per_input_and_output, "W_product as it is", Role::Detail, discrete::units},
      {"odd", per_input_and_output, "1 where |W_product| > 1/2, else 0"},
      {"gate", per_output, "1 where choice > 1/2, else 0", Role::Gate, discrete::bits},
      {"used", per_input_and_output, "W_sum where the gate is 1, else W_product", Role::Weight, discrete::units},
  };
  static constexpr Quantity steps[] = {
      {"logarithm", per_input, nru::logarithm},
      {"exponent", per_output, "sum_i W_product_io*logarithm_i"},
      {"sum a", per_output, "sum_i x_i*W_sum_io"},
      {"product m", per_output, "exp(min(exponent, 88)), negative for an odd number of negative x_i with odd_io = 1"},
  };
  static constexpr auto& operations = all_operations;

  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 1e-2};
    r.training.loss = {.kind = Loss::Kind::Own};
    r.layers[0].regularisers = {Regulariser::sparsity(0.01, 20000, 35000, "W_sum"),
                                Regulariser::sparsity(0.1, 20000, 35000, "W_product")};
    r.training.cool_down = CoolDown{20000, 50000};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "There is no paper: the sum is the NAU's and the product the NRU-log's, with weights of their own; the gate does "
      "not depend on the input, and is not trained by the error of the output.",
      "With another loss than its own, or below other layers, nobody votes: the choice stays what it is.",
      "In a stack the layers below learn from the chosen part alone.",
  };
  static constexpr ModuleInfo info{
      .name = "NALU-vote",
      .title = "Neural Arithmetic Logic Unit whose samples vote",
      .citation = "this project; after Trask et al.: Neural Arithmetic Logic Units, NeurIPS 2018",
      .formula =
          "a = sum_i x_i*W_sum_io; m = prod_i |x_i|^W_product_io*prod_i sign(x_i)^round(W_product_io); y_o = a where "
          "choice_o > 1/2, else m; W_sum, W_product in [-1, 1]",
      .learned =
          "which inputs are added (1), subtracted (-1) or ignored (0); which are multiplied, divided by or ignored; "
          "and which of the two is the output",
      .unusual_inputs =
          "NaN gives NaN, and an infinite input mostly does; 0 counts as 1.2e-38 in the product, so that dividing by "
          "it gives a huge number; products above e^88 = 1.7e38 are cut there.",
      .own_loss =
          "(a - t)^2 for W_sum, (ln|m| - ln|t|)^2 for W_product; every sample moves the choice towards the part that "
          "is nearer to t",
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const auto [sum, product, choice] = unpack<parameters>(s, p);
    const auto [W_sum, W_product, odd, gate, used] = unpack<weights_info>(s, w);
    for (int o = 0; o < s.outputs; ++o) gate[o] = negative(0.5 - choice[o]);
    for (int i = 0; i < s.inputs; ++i) {
      for (int o = 0; o < s.outputs; ++o) {
        const int k = i * s.outputs + o;
        W_sum[k] = sum[k];
        W_product[k] = product[k];
        odd[k] = negative(0.5 - abs(product[k]));
        used[k] = gate[o] * sum[k] + (1.0 - gate[o]) * product[k];
      }
    }
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const auto [W_sum, W_product, odd, gate, used] = unpack<weights_info>(s, w);
    const auto [logarithm, exponent, a, m] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T sum = x[0] * W_sum[o], log_sum = W_product[o] * logarithm[0], signs = 1.0 - 2.0 * (odd[o] * negative(x[0]));
      for (int i = 1; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        sum += x[i] * W_sum[k];
        log_sum += W_product[k] * logarithm[i];
        signs *= 1.0 - 2.0 * (odd[k] * negative(x[i]));
      }
      exponent[o] = log_sum;
      a[o] = sum;
      m[o] = exp(min(largest_exponent, log_sum)) * signs;
      y[o] = gate[o] * a[o] + (1.0 - gate[o]) * m[o];
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const T* gate = unpack<weights_info>(s, w)[3];
    const auto [logarithm, exponent, a, m] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      const T d_exponent = where(exponent[o] <= largest_exponent, dy[o] * m[o], 0.0);
      weights_back(s, x, logarithm, o, dy[o] * gate[o], d_exponent * (1.0 - gate[o]), dw);
      if (dx) inputs_back(s, w, x, o, dy[o], d_exponent, dx);
    }
  }

  // Of a half of the loss. A target of 0 has no logarithm: the product learns nothing from it.
  template <class T, class Shape>
  static void own_backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                           const T* t, const T& scale, T* dx, T* dp, T* dw) {
    const auto [logarithm, exponent, a, m] = unpack<steps>(s, step);
    T* d_choice = unpack<parameters>(s, dp)[2];
    for (int o = 0; o < s.outputs; ++o) {
      const T error = a[o] - t[o];
      const T d_sum = error * scale;
      const T d_exponent = where(t[o] == 0.0, T(0.0), (exponent[o] - log(max(nru::smallest, abs(t[o])))) * scale);
      const T nearer = abs(m[o] - t[o]) - abs(error);  // positive where the sum is
      d_choice[o] -= where(nearer == 0.0, T(0.0), where(nearer > 0.0, scale, -scale));
      weights_back(s, x, logarithm, o, d_sum, d_exponent, dw);
      if (dx) inputs_back(s, w, x, o, d_sum, d_exponent, dx);
    }
  }

  // The part that was not chosen needs no discrete weights.
  static Expression ideal(Readout& r, int o) {
    if (r.weight("gate", o) == 0)
      return nru::ideal(
          r, o, [](double w) { return std::fabs(w) > 0.5; }, "W_product");
    return snapped_sum(r, o, "W_sum");
  }

 private:
  template <class T, class Shape>
  static void weights_back(const Shape& s, const T* x, const T* logarithm, int o, const T& d_sum, const T& d_exponent,
                           T* dw) {
    const auto [dW_sum, dW_product, d_odd, d_gate, d_used] = unpack<weights_info>(s, dw);
    for (int i = 0; i < s.inputs; ++i) {
      const int k = i * s.outputs + o;
      dW_sum[k] += d_sum * x[i];
      dW_product[k] += d_exponent * logarithm[i];
    }
  }

  // Through the chosen part.
  template <class T, class Shape>
  static void inputs_back(const Shape& s, const T* w, const T* x, int o, const T& d_sum, const T& d_exponent, T* dx) {
    const auto [W_sum, W_product, odd, gate, used] = unpack<weights_info>(s, w);
    for (int i = 0; i < s.inputs; ++i) {
      const int k = i * s.outputs + o;
      dx[i] += where(gate[o] > 0.5, d_sum * W_sum[k], d_exponent * W_product[k] / x[i]);
    }
  }
};

}  // namespace nalm::modules
