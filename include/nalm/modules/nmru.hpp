// NMRU: the NMU over the inputs and their reciprocals.
//
//   z = (x, 1/(x + eps)), eps while training only
//   y_o = prod_j (|z_j| W_jo + 1 - W_jo) * cos(pi sum_j [z_j < 0] W_jo),   W in [0, 1], driven towards {0, 1}
//
// "Vanilla", without the separation of sign and magnitude: y_o = prod_j (z_j W_jo + 1 - W_jo).
// Weights on inputs are W here, those on reciprocals R. Built in: division is multiplication by a reciprocal that
// somebody else takes; both weights on one input cancel, so that a formula has more than one spelling.
//
// Mistry, Farrahi and Hare, "Learning division with neural arithmetic logic modules", TMLR 2022.
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

template <bool separate_sign>
struct NmruMathematics : RawMatrices<2> {
  static constexpr double epsilon = 1.1920929e-7;     // the float32 machine epsilon, in double too
  static constexpr double smallest = 1.17549435e-38;  // the smallest normal float32, in double too
  static constexpr double pi = 3.14159265358979323846;

  static constexpr ParameterInfo parameters[] = {
      {"W", per_input_and_output, Start::uniform(0.25, 0.75), Clamp{0, 1}, "1 multiplies by the input, 0 ignores it"},
      {"R", per_input_and_output, Start::uniform(0.25, 0.75), Clamp{0, 1}, "1 divides by the input, 0 ignores it"},
  };
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "W as it is", Role::Weight, discrete::bits},
      {"R", per_input_and_output, "R as it is", Role::Divisor, discrete::bits},
  };
  static constexpr Quantity steps[] = {
      {"reciprocal", per_input, separate_sign ? "1/max(|x|, 1.2e-38)" : "1/x, at most 1/1.2e-38"},
      {"factor of x", per_input_and_output, separate_sign ? "|x|*W + 1 - W" : "x*W + 1 - W"},
      {"product before it", per_input_and_output, "all factors of earlier inputs, multiplied"},
      {"factor of 1/x", per_input_and_output, "reciprocal*R + 1 - R"},
      {"sine", per_output, separate_sign ? "sin(pi*sum_i (W_io + R_io) where x_i < 0)" : "0: signs are in the factors"},
      {"cosine", per_output, separate_sign ? "cos(pi*sum_i (W_io + R_io) where x_i < 0)" : "1"},
      {"magnitude", per_output, "the product of all factors"},
  };
  static constexpr Operation operations[] = {Operation::Multiply, Operation::Divide};

  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 1e-2};
    r.training.clip_norm = 1;
    // The paper's strength of 10 is for the mean over W and R together.
    r.layers[0].regularisers = {Regulariser::sparsity(5, 20000, 35000)};
    return r;
  }

  static constexpr std::string_view unusual_inputs =
      "NaN gives NaN; the reciprocal of 0 is 8.5e37; an infinite input is infinite, or NaN with W = 0 or R = 1; "
      "magnitudes far below 6e-8 (float) or 1e-16 (double) vanish beside the 1 in |x|*W + 1 - W, and so do such "
      "reciprocals.";

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    for (int i = 0; i < s.inputs; ++i) {
      step[i] = 1.0 / max(smallest, abs(x[i]));
      if constexpr (!separate_sign) step[i] *= 1.0 - 2.0 * negative(x[i]);
    }
    multiply(s, w, x, y, step);
  }

  template <class T, class Shape>
  static void train_forward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*noise*/, T* y, T* step) {
    for (int i = 0; i < s.inputs; ++i) step[i] = 1.0 / size_of_input(x[i] + epsilon);
    multiply(s, w, x, y, step);
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const auto [W, R] = unpack<weights_info>(s, w);
    const auto [dW, dR] = unpack<weights_info>(s, dw);
    const auto [reciprocal, factor_x, before, factor_r, sine, cosine, magnitude] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T after = dy[o];
      T d_angle = 0.0;
      if constexpr (separate_sign) {
        after = dy[o] * cosine[o];
        d_angle = -(dy[o] * magnitude[o] * sine[o]) * pi;
      }
      for (int i = s.inputs - 1; i >= 0; --i) {
        const int k = i * s.outputs + o;
        const T size = size_of_input(x[i]);
        const T d_factor_r = before[k] * factor_x[k] * after;
        const T d_factor_x = before[k] * factor_r[k] * after;
        T from_angle = 0.0;
        if constexpr (separate_sign) from_angle = d_angle * negative(x[i]);
        dW[k] += d_factor_x * (size - 1.0) + from_angle;
        dR[k] += d_factor_r * (reciprocal[i] - 1.0) + from_angle;
        if (dx) {
          const T d_size = d_factor_x * W[k] - d_factor_r * R[k] * (reciprocal[i] * reciprocal[i]);
          if constexpr (separate_sign) {
            dx[i] += d_size * sign(x[i]);
          } else {
            dx[i] += d_size;
          }
        }
        after *= factor_x[k] * factor_r[k];
      }
    }
  }

  static Expression ideal(Readout& r, int o) {
    std::vector<Power> powers;
    Expression rest = 1.0, phase = 0.0;
    for (int i = 0; i < r.inputs(); ++i) {
      const double w = r.snapped("W", i, o);
      const double v = r.snapped("R", i, o);
      if ((w == 0 || w == 1) && (v == 0 || v == 1)) {
        powers.push_back({r.x(i), w - v});
        continue;
      }
      const Expression size = separate_sign ? abs(r.x(i)) : r.x(i);
      rest *= w * size + (1 - w);
      if (v != 0) rest *= v / size + (1 - v);
      if (separate_sign) phase += (w + v) * negative(r.x(i));
    }
    return product_of_powers(powers) * rest * cos(pi * phase);
  }

 private:
  template <class T>
  static T size_of_input(const T& x) {
    if constexpr (separate_sign) {
      return abs(x);
    } else {
      return x;
    }
  }

  template <class T, class Shape>
  static void multiply(const Shape& s, const T* w, const T* x, T* y, T* step) {
    const auto [W, R] = unpack<weights_info>(s, w);
    const auto [reciprocal, factor_x, before, factor_r, sine, cosine, magnitude] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T product = 1.0, half_turns = 0.0;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        factor_x[k] = size_of_input(x[i]) * W[k] + 1.0 - W[k];
        factor_r[k] = reciprocal[i] * R[k] + 1.0 - R[k];
        before[k] = product;
        product *= factor_x[k] * factor_r[k];
        if constexpr (separate_sign) half_turns += negative(x[i]) * (W[k] + R[k]);
      }
      magnitude[o] = product;
      if constexpr (separate_sign) {
        const auto circle = sincos(half_turns * pi);
        sine[o] = circle.sin;
        cosine[o] = circle.cos;
        y[o] = product * circle.cos;
      } else {
        sine[o] = 0.0;
        cosine[o] = 1.0;
        y[o] = product;
      }
    }
  }
};

struct Nmru : NmruMathematics<true> {
  static constexpr std::string_view differences[] = {
      "The weights of the paper's one matrix over 2I inputs are two parameters, W and R, drawn one after the other.",
      "eps is the float32 machine epsilon.",
  };
  static constexpr ModuleInfo info{
      .name = "NMRU",
      .title = "Neural Multiplicative Reciprocal Unit",
      .citation = "Mistry, Farrahi, Hare: Learning division with neural arithmetic logic modules, TMLR 2022",
      .formula =
          "y_o = prod_i (|x_i|*W_io + 1 - W_io)*(R_io/|x_i| + 1 - R_io)*cos(pi*sum_i (W_io + R_io) where x_i < 0), "
          "W and R in [0, 1]",
      .learned =
          "which inputs are multiplied (W = 1), divided by (R = 1) or ignored; signs follow, but are trained too",
      .unusual_inputs = unusual_inputs,
      .training_form = "the same with 1/|x_i + eps| for 1/|x_i|, eps = 1.1920929e-7",
  };
};

struct NmruVanilla : NmruMathematics<false> {
  static constexpr std::string_view differences[] = {
      "As for the NMRU. This is the form that its paper starts from, and improves."};
  static constexpr ModuleInfo info{
      .name = "NMRU-vanilla",
      .title = "Neural Multiplicative Reciprocal Unit without sign separation",
      .citation = "Mistry, Farrahi, Hare: Learning division with neural arithmetic logic modules, TMLR 2022",
      .formula = "y_o = prod_i (x_i*W_io + 1 - W_io)*(R_io/x_i + 1 - R_io), W and R in [0, 1]",
      .learned = "which inputs are multiplied (W = 1), divided by (R = 1) or ignored",
      .unusual_inputs = unusual_inputs,
      .training_form = "the same with 1/(x_i + eps) for 1/x_i, eps = 1.1920929e-7",
  };
};

}  // namespace nalm::modules
