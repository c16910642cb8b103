// SKELETON: a template for a module of your own. Copy it, rename it, and say here what it computes.
//
//   y_o = b_o + sum_i x_i W_io
//
// Who published it, where.
//
// Then add a line to modules.list and a test in tests/modules: the command line, the documentation, the gradient check,
// model files, the benchmark and the engine take everything else from here. tests/example_module does exactly that with
// this file, so what you copy is known to work.
#pragma once

#include "nalm/modules/mathematics.hpp"  // what forward and backward may use

namespace nalm::modules {

struct Skeleton {
  // What is trained: name, index space, start values, bounds (or {}), meaning.
  static constexpr ParameterInfo parameters[] = {
      {"W", per_input_and_output, {Start::Kind::XavierUniform}, Clamp{-1, 1}, "the factor of each input"},
      {"b", per_output, Start::constant(0), {}, "the offset", {}, End::Anywhere},
  };
  // What forward uses: effective weights, computed once per iteration; true for those of the sparsity error.
  static constexpr Quantity weights_info[] = {{"W", per_input_and_output, "W as it is", Role::Weight, discrete::units}};
  // What forward keeps per sample, for backward and for `nalm explain`. Leave it out if there is nothing to keep.
  static constexpr Quantity steps[] = {{"sum", per_output, "sum_i x_i*W_io"}};
  // What it can learn in the Single Module Arithmetic Task.
  static constexpr Operation operations[] = {Operation::Add, Operation::Subtract};

  // How it likes to be trained. Leave it out if Adam alone, with its usual settings, will do.
  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 1e-2};
    r.layers[0].regularisers = {Regulariser::sparsity(0.01, 20000, 35000, "W")};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "Every difference from the paper, and from other implementations, in one sentence each."};
  // What else there is to say; the tables above are added by their names.
  static constexpr ModuleInfo info{
      .name = "SKELETON",
      .title = "A module to copy",
      .citation = "Authors: Title, Venue Year",
      .formula = "y_o = b_o + sum_i x_i*W_io",
      .learned = "the factor of each input and an offset",
      .unusual_inputs = "NaN and infinities go through the sum.",
  };

  // Arrays are flat, in the order of the tables above; index [input][output] is [i * s.outputs + o].
  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    for (int k = 0; k < s.inputs * s.outputs; ++k) w[k] = p[k];
  }

  // One sample.
  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* W, const T* x, T* y, T* step) {
    const T* b = unpack<parameters>(s, p)[1];
    for (int o = 0; o < s.outputs; ++o) {
      T sum = x[0] * W[o];
      for (int i = 1; i < s.inputs; ++i) sum += x[i] * W[i * s.outputs + o];
      step[o] = sum;
      y[o] = b[o] + sum;
    }
  }

  // Adds to dp (raw parameters that forward used directly), dw (effective weights) and, unless it is null, dx.
  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* W, const T* x, const T* /*y*/, const T* /*step*/,
                       const T* dy, T* dx, T* dp, T* dW) {
    T* db = unpack<parameters>(s, dp)[1];
    for (int o = 0; o < s.outputs; ++o) {
      db[o] += dy[o];
      for (int i = 0; i < s.inputs; ++i) {
        dW[i * s.outputs + o] += dy[o] * x[i];
        if (dx) dx[i] += dy[o] * W[i * s.outputs + o];
      }
    }
  }

  // Adds to dp what follows from dw: the chain rule through weights().
  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* /*w*/, const T* dw, T* dp) {
    for (int k = 0; k < s.inputs * s.outputs; ++k) dp[k] += dw[k];
  }

  // What output o means, with discrete weights rounded.
  static Expression ideal(Readout& r, int o) {
    Expression sum = r.parameter("b", o);
    for (int i = 0; i < r.inputs(); ++i) sum += r.snapped("W", i, o) * r.x(i);
    return sum;
  }
};

}  // namespace nalm::modules
