// NSR: comparison of two inputs that it learns to select, by a sign bit and a zero bit like a processor's.
//
//   p_r = softmax over inputs of V1[., r],   q_r = softmax of V2[., r],   d_r = lambda (p_r . x - q_r . x)
//   sign bit s_r = tanh(d_r),   zero bit z_r = 1 - 2 tanh(d_r)^2
//   y = sigmoid(b + sum_r (w_sign_r s_r + w_zero_r z_r)),   outputs y and 1 - y
//
// for r = 1..R redundant paths. Several comparisons have parameters of their own; each gives two outputs.
//
// Faber and Wattenhofer, "Neural Status Registers", ICML 2023 (arXiv 2020).
#pragma once

#include <algorithm>
#include <utility>

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

struct Nsr {
  enum Option { lambda, redundancy };

  static constexpr OptionInfo options[] = {
      {.name = "lambda",
       .meaning = "scale of the difference; times the smallest difference to be resolved it should be "
                  "at least 0.1 for inequalities and 1 for equality",
       .standard = 1},
      {.name = "redundancy",
       .meaning = "paths per comparison: 2 suffice for inequalities, about 10 for equality",
       .standard = 10,
       .lowest = 1,
       .whole = true},
  };
  static constexpr Axes per_comparison_input_path{Axis::Comparison, Axis::Input, Axis::Path};
  static constexpr Axes per_comparison_path{Axis::Comparison, Axis::Path, Axis::One};
  static constexpr Axes per_comparison{Axis::Comparison, Axis::One};

  static constexpr ParameterInfo parameters[] = {
      {"V1", per_comparison_input_path, {Start::Kind::XavierNormal}, {}, "selects the left operand", {}, End::OneInput},
      {"V2",
       per_comparison_input_path,
       {Start::Kind::XavierNormal},
       {},
       "selects the right operand",
       {},
       End::OneInput},
      {"w_sign", per_comparison_path, {Start::Kind::XavierNormal}, {}, "weight of the sign bit", {}, End::Anywhere},
      {"w_zero", per_comparison_path, {Start::Kind::XavierNormal}, {}, "weight of the zero bit", {}, End::Anywhere},
      {"b", per_comparison, Start::constant(0), {}, "shift, shared by the paths", {}, End::Anywhere},
  };
  static constexpr Quantity weights_info[] = {
      {"p", per_comparison_input_path, "softmax of V1 over the inputs", Role::Weight, discrete::bits},
      {"q", per_comparison_input_path, "softmax of V2 over the inputs", Role::Weight, discrete::bits},
  };
  static constexpr Quantity steps[] = {
      {"sign bit", per_comparison_path, "tanh(lambda*(p.x - q.x))"},
      {"zero bit", per_comparison_path, "1 - 2*sign^2"},
  };

  static constexpr std::string_view differences[] = {
      "Written from the mathematics: the public code pins the redundancy to 1 and computes labels from 10000*x1.",
      "One shift b per comparison; the paper's text can be read as one per path.",
      "p.x - q.x is computed as the sum of (p_i - q_i)(x_i - x_1), which is the same number because both softmaxes sum "
      "to 1, and is exactly 0 when all inputs are equal, however large they are.",
  };
  static constexpr ModuleInfo info{
      .name = "NSR",
      .title = "Neural Status Register",
      .citation = "Faber, Wattenhofer: Neural Status Registers, ICML 2023 (arXiv 2020)",
      .formula =
          "d_r = lambda*(p_r.x - q_r.x); s_r = tanh(d_r); z_r = 1 - 2*s_r^2; y = sigmoid(b + sum_r (w_sign_r*s_r + "
          "w_zero_r*z_r)); outputs y and 1 - y; p, q = softmax of V1, V2 over the inputs",
      .learned = "which two inputs are compared, and how (<, >, =, and so on)",
      .unusual_inputs =
          "NaN gives NaN; an infinite input gives NaN or a decided comparison; differences are limited by the "
          "number format: integers that differ by 1 are told apart up to 2^24 in float and 2^53 in double; "
          "zeros, denormals and 1e30 are ordinary.",
      .outputs_multiple_of = 2,
      .path_option = redundancy,
  };

  template <class T>
  static void softmax(int inputs, int paths, const T* V, T* p) {
    for (int r = 0; r < paths; ++r) {
      T largest = V[r];
      for (int i = 1; i < inputs; ++i) largest = max(largest, V[i * paths + r]);
      T sum = 0.0;
      for (int i = 0; i < inputs; ++i) sum += p[i * paths + r] = exp(V[i * paths + r] - largest);
      for (int i = 0; i < inputs; ++i) p[i * paths + r] = p[i * paths + r] / sum;
    }
  }

  template <class T>
  static void softmax_back(int inputs, int paths, const T* p, const T* dp, T* dV) {
    for (int r = 0; r < paths; ++r) {
      T mean = 0.0;
      for (int i = 0; i < inputs; ++i) mean += p[i * paths + r] * dp[i * paths + r];
      for (int i = 0; i < inputs; ++i) dV[i * paths + r] += p[i * paths + r] * (dp[i * paths + r] - mean);
    }
  }

  template <class T, class Shape>
  static void weights(const Shape& s, const T* P, T* w) {
    const int paths = static_cast<int>(s.options[redundancy]), comparisons = s.outputs / 2, n = s.inputs * paths;
    // V1 of all comparisons, then V2 of all.
    for (int c = 0; c < 2 * comparisons; ++c) softmax(s.inputs, paths, P + c * n, w + c * n);
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* P, const T* w, const T* x, T* y, T* step) {
    const int paths = static_cast<int>(s.options[redundancy]), n = s.inputs * paths;
    const auto [V1, V2, w_sign, w_zero, b] = unpack<parameters>(s, P, paths);
    const auto [all_p, all_q] = unpack<weights_info>(s, w, paths);
    const auto [sign_bit, zero_bit] = unpack<steps>(s, step, paths);
    for (int c = 0; c < s.outputs / 2; ++c) {
      const T *p = all_p + c * n, *q = all_q + c * n;
      T logit = b[c];
      for (int r = 0; r < paths; ++r) {
        T difference = 0.0;
        for (int i = 1; i < s.inputs; ++i) difference += (p[i * paths + r] - q[i * paths + r]) * (x[i] - x[0]);
        const int k = c * paths + r;
        sign_bit[k] = tanh(difference * s.options[lambda]);
        zero_bit[k] = 1.0 - 2.0 * (sign_bit[k] * sign_bit[k]);
        logit += w_sign[k] * sign_bit[k] + w_zero[k] * zero_bit[k];
      }
      y[2 * c] = sigmoid(logit);
      y[2 * c + 1] = 1.0 - y[2 * c];
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* P, const T* w, const T* x, const T* y, const T* step, const T* dy,
                       T* dx, T* dP, T* dw) {
    const int paths = static_cast<int>(s.options[redundancy]), n = s.inputs * paths;
    const auto [V1, V2, w_sign, w_zero, b] = unpack<parameters>(s, P, paths);
    const auto [dV1, dV2, dw_sign, dw_zero, db] = unpack<parameters>(s, dP, paths);
    const auto [all_p, all_q] = unpack<weights_info>(s, w, paths);
    const auto [all_dp, all_dq] = unpack<weights_info>(s, dw, paths);
    const auto [sign_bit, zero_bit] = unpack<steps>(s, step, paths);
    for (int c = 0; c < s.outputs / 2; ++c) {
      const T *p = all_p + c * n, *q = all_q + c * n;
      T *dp = all_dp + c * n, *dq = all_dq + c * n;
      const T d_logit = (dy[2 * c] - dy[2 * c + 1]) * (y[2 * c] * (1.0 - y[2 * c]));
      db[c] += d_logit;
      for (int r = 0; r < paths; ++r) {
        const int k = c * paths + r;
        const T s_r = sign_bit[k];
        dw_sign[k] += d_logit * s_r;
        dw_zero[k] += d_logit * zero_bit[k];
        const T d_difference =
            d_logit * ((w_sign[k] - 4.0 * (w_zero[k] * s_r)) * (1.0 - s_r * s_r)) * s.options[lambda];
        for (int i = 1; i < s.inputs; ++i) {
          const int j = i * paths + r;
          const T d_weight = d_difference * (x[i] - x[0]);
          dp[j] += d_weight;
          dq[j] -= d_weight;
          if (dx) {
            const T d_input = d_difference * (p[j] - q[j]);
            dx[i] += d_input;
            dx[0] -= d_input;
          }
        }
      }
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*P*/, const T* w, const T* dw, T* dP) {
    const int paths = static_cast<int>(s.options[redundancy]), comparisons = s.outputs / 2, n = s.inputs * paths;
    for (int c = 0; c < 2 * comparisons; ++c) softmax_back(s.inputs, paths, w + c * n, dw + c * n, dP + c * n);
  }

  static Expression ideal(Readout& r, int o) {
    const int paths = static_cast<int>(r.option(redundancy)), c = o / 2;
    const double b = r.parameter("b", c);
    Expression logit = b;
    // The logit where every path sees a clear difference of either sign, and where it sees none.
    double above = b, below = b, equal = b;
    std::pair<int, int> compared{-1, -1};
    bool one_pair = true;
    for (int path = 0; path < paths; ++path) {
      Expression difference = 0.0;
      int left = -1, right = -1;
      for (int i = 0; i < r.inputs(); ++i) {
        const double p = r.snapped("p", c, i, path), q = r.snapped("q", c, i, path);
        difference += (p - q) * r.x(i);
        if (p == 1) left = i;
        if (q == 1) right = i;
      }
      const double w_sign = r.parameter("w_sign", c, path), w_zero = r.parameter("w_zero", c, path);
      const Expression s = tanh(r.option(lambda) * difference);
      logit += w_sign * s + w_zero * (1.0 - 2.0 * (s * s));
      if (left < 0 || right < 0 || left == right) {
        one_pair = false;
        continue;
      }
      // Order every pair alike, so that paths which look the other way round agree.
      const double direction = left < right ? 1 : -1;
      const std::pair<int, int> pair = std::minmax(left, right);
      one_pair = one_pair && (compared.first < 0 || compared == pair);
      compared = pair;
      above += direction * w_sign - w_zero;
      below -= direction * w_sign + w_zero;
      equal += w_zero;
    }
    if (one_pair && compared.first >= 0 && o % 2 == 0) {
      static constexpr std::string_view relations[] = {"", "<", "=", "<=", ">", "not equal to", ">=", ""};
      const int truth = (below > 0 ? 1 : 0) + (equal > 0 ? 2 : 0) + (above > 0 ? 4 : 0);
      const std::string y = "y" + std::to_string(o + 1);
      if (truth == 0 || truth == 7) {
        r.notes.push_back(y + " is " + (truth == 0 ? "never" : "always") + " true");
      } else {
        r.notes.push_back(y + " is true where " + print(r.x(compared.first)) + " " + std::string(relations[truth]) +
                          " " + print(r.x(compared.second)));
      }
    }
    const Expression y = sigmoid(logit);
    return o % 2 == 0 ? y : 1.0 - y;
  }
};

}  // namespace nalm::modules
