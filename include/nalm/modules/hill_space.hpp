// Hill Space: the weights of the NAC, started at 0 and trained fast, in a sum or in a product of powers.
//
//   W = tanh(W_hat) sigmoid(M_hat)
//   HillSpace-add: y_o = sum_i x_i W_io
//   HillSpace-exp: y_o = prod_i x_i^W_io, the real part: exp(sum_i W_io ln|x_i|) cos(pi sum_i W_io where x_i < 0)
//
// In evaluation a tanh or sigmoid within 1e-6 of a plateau is on it. Built in: which of the two it is; no gate chooses.
//
// DuJardin, "Hill Space is All You Need", 2025.
#pragma once

#include "nalm/modules/nac_weights.hpp"
#include "nalm/modules/nru.hpp"

namespace nalm::modules {

namespace hill_space {

inline constexpr double plateau = 1e-6;
inline constexpr double pi = 3.14159265358979323846;

inline constexpr std::string_view citation = "DuJardin: Hill Space is All You Need, 2025";
inline constexpr Start near_zero = Start::uniform(-0.02, 0.02);

struct Weights : nac::OneWeight {
  static constexpr ParameterInfo parameters[] = {
      {"W_hat", per_input_and_output, near_zero, {}, "sign and selection", {}, End::FarOutOrZero},
      {"M_hat", per_input_and_output, near_zero, {}, "selection"},
  };
  static constexpr Quantity weights_info[] = {
      nac::W,
      nac::tanh_W,
      nac::sigmoid_W,
      {"snapped", per_input_and_output, "W, with tanh and sigmoid on their plateaus where they are within 1e-6"}};

  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 0.3};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "Trained by the simple one of the paper's two recipes (Adam, learning rate 0.3, 50,000 steps), on batches of 128 "
      "instead of 64; the other one is schedule-free AdamW, which is not here.",
      "Raw parameters start uniform within +-0.02, so that seeds differ; the paper has that, or 0.",
      "float32 throughout, with the real part written out; the published code computes powers in complex128.",
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = s.inputs * s.outputs;
    OneWeight::weights(s, p, w);
    for (int k = 0; k < n; ++k) {
      const T t = w[n + k], m = w[2 * n + k];
      w[3 * n + k] = (t + negative(1.0 - plateau - abs(t)) * (sign(t) - t)) *
                     (m + negative(1.0 - plateau - m) * (1.0 - m) - negative(m - plateau) * m);
    }
  }
};

inline constexpr std::string_view training_form = "the same without plateaus: W = tanh(W_hat)*sigmoid(M_hat)";

}  // namespace hill_space

struct HillSpaceAdd : hill_space::Weights, WeightedSum {
  static constexpr Operation operations[] = {Operation::Add, Operation::Subtract};
  static constexpr ModuleInfo info{
      .name = "HillSpace-add",
      .title = "Hill Space, additive primitive",
      .citation = hill_space::citation,
      .formula = "W = tanh(W_hat)*sigmoid(M_hat), factors within 1e-6 of -1, 0 or 1 rounded; y_o = sum_i x_i*W_io",
      .learned = "which inputs are added (1), subtracted (-1) or ignored (0)",
      .unusual_inputs =
          "as NAC+: NaN and infinities go through the sum, infinity times an exact 0 is NaN; zeros, denormals and 1e30 "
          "are ordinary numbers.",
      .training_form = hill_space::training_form,
  };

  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* w, const T* x, T* y, T* step) {
    WeightedSum::forward(s, p, w + 3 * s.inputs * s.outputs, x, y, step);
  }

  template <class T, class Shape>
  static void train_forward(const Shape& s, const T* p, const T* W, const T* x, const T* /*noise*/, T* y, T* step) {
    WeightedSum::forward(s, p, W, x, y, step);
  }
};

struct HillSpaceExp : hill_space::Weights, nru::Logarithms {
  static constexpr Quantity steps[] = {
      {"logarithm", per_input, nru::logarithm},
      {"size", per_output, "exp(sum_i W_io*logarithm_i)"},
      {"sine", per_output, "sin(pi*sum_i W_io where x_i < 0)"},
  };
  static constexpr Operation operations[] = {Operation::Multiply, Operation::Divide};
  static constexpr ModuleInfo info{
      .name = "HillSpace-exp",
      .title = "Hill Space, exponential primitive",
      .citation = hill_space::citation,
      .formula =
          "W = tanh(W_hat)*sigmoid(M_hat), factors within 1e-6 of -1, 0 or 1 rounded; y_o = exp(sum_i "
          "W_io*ln|x_i|)*cos(pi*sum_i W_io where x_i < 0)",
      .learned = "which inputs are multiplied (1), divided by (-1) or ignored (0); the sign turns with the weights",
      .unusual_inputs =
          "NaN gives NaN, and so does an infinite input with W = 0; 0 counts as 1.2e-38, so that dividing by it gives "
          "a huge number; nothing is added to the input.",
      .training_form = hill_space::training_form,
  };

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    multiply(s, w + 3 * s.inputs * s.outputs, x, y, step);
  }

  template <class T, class Shape>
  static void train_forward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*noise*/, T* y, T* step) {
    multiply(s, w, x, y, step);
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* W, const T* x, const T* y, const T* step, const T* dy,
                       T* dx, T* /*dp*/, T* dW) {
    const auto [logarithm, size, sine] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      const T d_exponent = dy[o] * y[o], d_turns = -(dy[o] * size[o] * sine[o]) * hill_space::pi;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        dW[k] += d_exponent * logarithm[i] + d_turns * negative(x[i]);
        if (dx) dx[i] += d_exponent * W[k] / x[i];
      }
    }
  }

  static Expression ideal(Readout& r, int o) {
    std::vector<Power> powers;
    Expression turns = 0.0;
    for (int i = 0; i < r.inputs(); ++i) {
      const double w = r.snapped("W", i, o);
      const bool whole = w == std::round(w);
      powers.push_back({whole ? r.x(i) : abs(r.x(i)), w});
      turns += (whole ? 0 : w) * negative(r.x(i));
    }
    return product_of_powers(powers) * cos(hill_space::pi * turns);
  }

 private:
  template <class T, class Shape>
  static void multiply(const Shape& s, const T* W, const T* x, T* y, T* step) {
    const auto [logarithm, size, sine] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T exponent = W[o] * logarithm[0], turns = W[o] * negative(x[0]);
      for (int i = 1; i < s.inputs; ++i) {
        exponent += W[i * s.outputs + o] * logarithm[i];
        turns += W[i * s.outputs + o] * negative(x[i]);
      }
      real_part(exponent, turns * hill_space::pi, size[o], sine[o], y[o]);
    }
  }
};

}  // namespace nalm::modules
