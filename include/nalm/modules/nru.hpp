// NRU: products of powers -1, 0 and 1, as a product of gated factors.
//
//   y_o = prod_i (sign(x_i) |x_i|^W_io t_io + 1 - t_io),   W in [-1, 1], driven towards {-1, 0, 1}
//   t = tanh^2(1000 W) while training: whether W is not 0;   t = |W| in evaluation
//
// With signs separated: y_o = prod_i (|x_i|^W_io t_io + 1 - t_io) * prod_i sign(x_i)^round(W_io).
// Built in: the sign of a product or quotient follows from which inputs take part.
//
// Mistry, Farrahi and Hare, "Learning division with neural arithmetic logic modules", TMLR 2022.
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

namespace nru {

inline constexpr double smallest = 1.17549435e-38;  // the smallest normal float32, in double too
inline constexpr std::string_view logarithm = "ln(max(|x|, 1.2e-38))";

struct Logarithms {
  template <class T, class Shape>
  static void prepare(const Shape& s, const T* x, T* step) {
    for (int i = 0; i < s.inputs; ++i) step[i] = log(max(smallest, abs(x[i])));
  }
};

// The product of powers of NRU-log, NRU-power and NALU-vote. Whole powers carry their sign; of the others it is asked
// for.
template <class CountsSign>
Expression ideal(Readout& r, int o, CountsSign counts_sign, std::string_view weights = "W") {
  std::vector<Power> powers;
  Expression signs = 1.0;
  for (int i = 0; i < r.inputs(); ++i) {
    const double w = r.snapped(weights, i, o);
    const bool whole = w == std::round(w);
    powers.push_back({whole ? r.x(i) : abs(r.x(i)), w});
    if (!whole && counts_sign(w)) signs *= sign(r.x(i));
  }
  return product_of_powers(powers) * signs;
}

// |x|^W and signs, multiplied, of NRU-log and NRU-power, whose effective weights begin with W and whose steps
// are logarithms. What is theirs: the sign
// factor of an input, from its weights behind W, and the gradient of an input from that of its logarithm.
template <class Own>
struct ProductOfPowers : RawMatrices<1> {
  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const int n = s.inputs * s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      T exponent = w[o] * step[0], signs = Own::sign_factor(w + n + o, n, x[0]);
      for (int i = 1; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        exponent += w[k] * step[i];
        signs *= Own::sign_factor(w + n + k, n, x[i]);
      }
      y[o] = exp(exponent) * signs;
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* y, const T* step, const T* dy,
                       T* dx, T* /*dp*/, T* dw) {
    for (int o = 0; o < s.outputs; ++o) {
      const T d_exponent = dy[o] * y[o];
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        dw[k] += d_exponent * step[i];
        if (dx) dx[i] += Own::through_logarithm(d_exponent * w[k], x[i]);
      }
    }
  }
};

}  // namespace nru

template <bool separate_sign>
struct NruMathematics : nru::Logarithms {
  static constexpr double steepness = 1000;

  static constexpr ParameterInfo parameters[] = {
      {"W", per_input_and_output, {Start::Kind::Nau}, Clamp{-1, 1}, "1 multiplies, -1 divides, 0 ignores the input"}};
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "W as it is", Role::Weight, discrete::units},
      {"t", per_input_and_output, "|W|"},
      {"tanh", per_input_and_output, "tanh(1000*W), for the t of training"},
  };
  static constexpr Quantity steps[] = {
      {"logarithm", per_input, nru::logarithm},
      {"power", per_input_and_output, separate_sign ? "exp(W*logarithm)" : "exp(W*logarithm), negative where x is"},
      {"factor", per_input_and_output, "power*t + 1 - t"},
      {"product before", per_input_and_output, "the factors of earlier inputs, multiplied"},
      {"sign s", per_output,
       separate_sign ? "-1 for an odd number of negative x_i with |W_io| > 1/2" : "1: it is in the powers"},
  };
  static constexpr Operation operations[] = {Operation::Multiply, Operation::Divide};

  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 1};
    r.layers[0].regularisers = {Regulariser::sparsity(10, 20000, 35000)};
    return r;
  }

  static constexpr std::string_view unusual_inputs =
      "NaN and infinities go through the product (infinity with W = 0 is NaN); whatever is smaller than 1.2e-38, 0 "
      "included, counts as that, so that dividing by it gives a huge number; nothing is added to the input.";

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = s.inputs * s.outputs;
    for (int k = 0; k < n; ++k) {
      w[k] = p[k];
      w[n + k] = abs(p[k]);
      w[2 * n + k] = tanh(p[k], steepness);
    }
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const T* gate = w + s.inputs * s.outputs;
    multiply(s, w, x, y, step, [&](int k) { return gate[k]; });
  }

  template <class T, class Shape>
  static void train_forward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*noise*/, T* y, T* step) {
    const T* th = w + 2 * s.inputs * s.outputs;
    multiply(s, w, x, y, step, [&](int k) { return th[k] * th[k]; });
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const auto [W, t, th] = unpack<weights_info>(s, w);
    const auto [dW, dt, d_th] = unpack<weights_info>(s, dw);
    const auto [logarithm, power, factor, before, sign_product] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T after = dy[o] * sign_product[o];
      for (int i = s.inputs - 1; i >= 0; --i) {
        const int k = i * s.outputs + o;
        const T d_factor = before[k] * after;
        const T d_exponent = d_factor * (th[k] * th[k]) * power[k];
        dW[k] += d_exponent * logarithm[i];
        d_th[k] += d_factor * (power[k] - 1.0) * (2.0 * th[k]);
        if (dx) dx[i] += d_exponent * W[k] / x[i];
        after *= factor[k];
      }
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* w, const T* dw, T* dp) {
    const int n = s.inputs * s.outputs;
    for (int k = 0; k < n; ++k) {
      const T th = w[2 * n + k];
      dp[k] += dw[k] + dw[2 * n + k] * ((1.0 - th * th) * steepness);
    }
  }

  static Expression ideal(Readout& r, int o) {
    std::vector<Power> powers;
    Expression rest = 1.0;
    for (int i = 0; i < r.inputs(); ++i) {
      const double w = r.snapped("W", i, o);
      if (std::fabs(w) == 1 || w == 0) {
        powers.push_back({r.x(i), w});
        continue;
      }
      const Expression size = product_of_powers({{abs(r.x(i)), w}});
      if (separate_sign) {
        rest *= std::fabs(w) * size + (1 - std::fabs(w));
        if (std::fabs(w) > 0.5) rest *= sign(r.x(i));
      } else {
        rest *= std::fabs(w) * (sign(r.x(i)) * size) + (1 - std::fabs(w));
      }
    }
    return product_of_powers(powers) * rest;
  }

 private:
  template <class T, class Shape, class Gate>
  static void multiply(const Shape& s, const T* w, const T* x, T* y, T* step, Gate gate) {
    const auto [logarithm, power, factor, before, sign_product] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T product = 1.0, signs = 1.0;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        power[k] = exp(w[k] * logarithm[i]);
        if constexpr (separate_sign) {
          // 1 where |W| > 1/2; at a tie 0, as rounding to even has it.
          const T odd = negative(0.5 - abs(w[k]));
          signs *= 1.0 - 2.0 * (odd * negative(x[i]));
        } else {
          power[k] *= 1.0 - 2.0 * negative(x[i]);
        }
        const T t = gate(k);
        factor[k] = power[k] * t + (1.0 - t);
        before[k] = product;
        product *= factor[k];
      }
      sign_product[o] = signs;
      y[o] = product * signs;
    }
  }
};

struct Nru : NruMathematics<false> {
  static constexpr std::string_view differences[] = {
      "Powers are computed as exp(W ln|x|), which is exact up to rounding for W = -1, 0 and 1; the sign of 0 is 1.",
      "The learning rate of 1 for two inputs throws every weight to a bound in the first step; 0.001 with more inputs.",
  };
  static constexpr ModuleInfo info{
      .name = "NRU",
      .title = "Neural Reciprocal Unit",
      .citation = "Mistry, Farrahi, Hare: Learning division with neural arithmetic logic modules, TMLR 2022",
      .formula = "y_o = prod_i (sign(x_i)*|x_i|^W_io*|W_io| + 1 - |W_io|), W in [-1, 1]",
      .learned = "which inputs are multiplied (1), divided by (-1) or ignored (0)",
      .unusual_inputs = unusual_inputs,
      .training_form = "y_o = prod_i (sign(x_i)*|x_i|^W_io*t_io + 1 - t_io), t = tanh(1000*W)^2",
  };
};

struct NruSeparate : NruMathematics<true> {
  static constexpr std::string_view differences[] = {
      "As for the NRU.",
      "Rounding has no gradient: the sign is not learned, it follows from the powers.",
  };
  static constexpr ModuleInfo info{
      .name = "NRU-separate",
      .title = "Neural Reciprocal Unit, separate sign",
      .citation = "Mistry, Farrahi, Hare: Learning division with neural arithmetic logic modules, TMLR 2022",
      .formula = "y_o = prod_i (|x_i|^W_io*|W_io| + 1 - |W_io|)*prod_i sign(x_i)^round(W_io), W in [-1, 1]",
      .learned = "which inputs are multiplied (1), divided by (-1) or ignored (0); signs follow from that",
      .unusual_inputs = unusual_inputs,
      .training_form = "y_o = prod_i (|x_i|^W_io*t_io + 1 - t_io)*prod_i sign(x_i)^round(W_io), t = tanh(1000*W)^2",
  };
};

}  // namespace nalm::modules
