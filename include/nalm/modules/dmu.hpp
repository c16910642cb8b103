// DMU: a sum and a product of the same operands, in magnitude and sign, and gates that choose between them.
//
//   R_o = sum_i O_io x_i,   m_o = exp(sum_i O_io ln|x_i|),   O = 1 adds and multiplies, -1 subtracts and divides
//   n = (x - mean(x)) / sqrt(variance(x) + 1e-5),   g_o = sigmoid(b_o + sum_i n_i G_io),   h_o alike
//   magnitude_o = g_o |R_o| + (1 - g_o) m_o
//   sign_o = h_o tanh(R_o / 1e-4) + (1 - h_o) cos(pi sum_i |O_io| where x_i < 0)
//   y_o = sign_o magnitude_o;   in evaluation g and h are 0 or 1, whichever is nearer
//
// Published with O frozen: (1, 1) is DMU-add, which is left with the choice between sum and product, and (1, -1) is
// DMU-sub, with difference and quotient. DMU learns O as well. Built in: that both branches have the same operands.
//
// Curry, "The Domain Mixed Unit: A New Neural Arithmetic Layer", arXiv 2509.08180, 2025; depth 1.
#pragma once

#include "nalm/modules/nru.hpp"

namespace nalm::modules {

struct Dmu : nru::Logarithms {
  static constexpr double steepness = 1e4;        // of the sign of a sum
  static constexpr double variance_floor = 1e-5;  // what layer normalisation adds
  static constexpr double largest_exponent = 80;  // exp of it is a float, so that a closed branch is 0 and not NaN
  static constexpr double pi = 3.14159265358979323846;

  enum Option { operands, gates };
  static constexpr double learned = 0, plus = 1, minus = 2;
  static constexpr double two = 0, one = 1;

  static constexpr OptionInfo options[] = {
      {.name = "operands",
       .meaning = "learned: O is a parameter; plus: frozen at 1; minus: frozen at 1 for the first input and at -1 for "
                  "the others",
       .standard = learned,
       .choices = {"learned", "plus", "minus"}},
      {.name = "gates",
       .meaning = "two: one for the magnitude, one for the sign; one: for both",
       .standard = two,
       .choices = {"two", "one"}},
  };
  static constexpr ParameterInfo parameters[] = {
      {"O",
       per_input_and_output,
       {Start::Kind::Nau},
       Clamp{-1, 1},
       "adds and multiplies (1), subtracts and divides (-1) or ignores (0)",
       {operands, learned}},
      {"G",
       per_input_and_output,
       Start::normal(0, 0.02),
       {},
       "how the normalised inputs choose sum or product",
       {},
       End::Anywhere},
      {"b", per_output, Start::constant(0), {}, "sum (positive) or product (negative)", {}, End::Anywhere},
      {"H",
       per_input_and_output,
       Start::normal(0, 0.02),
       {},
       "how the normalised inputs choose the sign",
       {gates, two},
       End::Anywhere},
      {"c", per_output, Start::constant(0), {}, "sign of the sum or of the product", {gates, two}, End::Anywhere},
  };
  static constexpr Quantity weights_info[] = {
      {"O", per_input_and_output, "O as it is, or 1 and -1 where it is frozen", Role::Weight, discrete::units}};
  static constexpr Quantity steps[] = {
      {"logarithm", per_input, nru::logarithm},
      {"normalised", per_input, "(x - mean)/deviation"},
      {"deviation", {Axis::One}, "sqrt(variance of the inputs + 1e-5)"},
      {"sum R", per_output, "sum_i O_io*x_i"},
      {"product m", per_output, "exp(sum_i O_io*logarithm_i), at most exp(80)"},
      {"sign of sum", per_output, "tanh(R/1e-4)"},
      {"sine", per_output, "sin(pi*sum_i |O_io| where x_i < 0)"},
      {"sign of product", per_output, "cos(pi*sum_i |O_io| where x_i < 0)"},
      {"gate g", per_output, "of the magnitude", Role::Gate, discrete::bits},
      {"gate h", per_output, "of the sign", Role::Gate, discrete::bits},
  };
  static constexpr auto& operations = all_operations;

  static Recipe recipe() {
    Recipe r;
    r.training.clip_norm = 0.01;
    r.layers[0].regularisers = {Regulariser::sparsity(0.01, 20000, 35000, "O")};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "The paper freezes O in its benchmark and has no recipe for learning it: start, bounds and regulariser are the "
      "NAU's, learning rate and clipping the paper's.",
      "Normalisation has no parameters of its own; those of the published code could be multiplied into G and b.",
      "The logarithm is that of max(|x|, 1.2e-38), and its sum stops at 80; the published code has 1e-6 and 100, in "
      "double.",
  };
  static constexpr ModuleInfo info{
      .name = "DMU",
      .title = "Domain Mixed Unit",
      .citation = "Curry: The Domain Mixed Unit: A New Neural Arithmetic Layer, arXiv 2509.08180, 2025",
      .formula =
          "R = sum_i O_io*x_i; m = exp(sum_i O_io*ln|x_i|); y_o = (g*|R| + (1 - g)*m)*(h*tanh(R/1e-4) + (1 - "
          "h)*cos(pi*sum_i |O_io| where x_i < 0)); g is 1 where b_o + sum_i n_i*G_io > 0, else 0, and h alike with c "
          "and H; n = (x - mean(x))/sqrt(variance(x) + 1e-5)",
      .learned = "which inputs are operands, with which sign, and whether their sum or their product is the output",
      .unusual_inputs =
          "NaN and infinities give NaN, and so do differences whose square is beyond the largest number (1e19 in "
          "float); 0 counts as 1.2e-38 in the product, so that dividing by it gives a huge number, at most 5.5e34; a "
          "sum below 1e-4 comes out too small.",
      .training_form = "the same with g = sigmoid(b_o + sum_i n_i*G_io), and h alike",
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* O) {
    for (int k = 0; k < s.inputs * s.outputs; ++k) {
      const bool is_minus = s.options[operands] == minus && k >= s.outputs;
      O[k] = s.options[operands] == learned ? p[k] : T(is_minus ? -1.0 : 1.0);
    }
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* O, const T* x, T* y, T* step) {
    // 0 times it, so that a gate without an answer is NaN and not 0.
    mix(s, p, O, x, y, step, [](const T& logit) { return negative(-logit) + logit * 0.0; });
  }

  template <class T, class Shape>
  static void train_forward(const Shape& s, const T* p, const T* O, const T* x, const T* /*noise*/, T* y, T* step) {
    mix(s, p, O, x, y, step, [](const T& logit) { return sigmoid_fast(logit); });
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* p, const T* O, const T* x, const T* /*y*/, const T* step, const T* dy,
                       T* dx, T* dp, T* dO) {
    const bool has_two = s.options[gates] == two;
    const auto [O_raw, G, b, H, c] = unpack<parameters>(s, p);
    const auto [dO_raw, dG, db, dH, dc] = unpack<parameters>(s, dp);
    const auto [logarithm, n, deviation, R, m, sign_R, sine, sign_m, g, h] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      const T magnitude = g[o] * abs(R[o]) + (1.0 - g[o]) * m[o];
      const T sign_y = h[o] * sign_R[o] + (1.0 - h[o]) * sign_m[o];
      const T d_magnitude = dy[o] * sign_y, d_sign = dy[o] * magnitude;
      const T d_R = d_magnitude * g[o] * sign(R[o]) + d_sign * h[o] * (1.0 - sign_R[o] * sign_R[o]) * steepness;
      const T d_exponent = where(m[o] < 5.5e34, d_magnitude * (1.0 - g[o]) * m[o], 0.0);
      const T d_turns = -(d_sign * (1.0 - h[o]) * sine[o]) * pi;
      const T d_sign_gate = d_sign * (sign_R[o] - sign_m[o]) * (h[o] * (1.0 - h[o]));
      T d_gate = d_magnitude * (abs(R[o]) - m[o]) * (g[o] * (1.0 - g[o]));
      if (!has_two) d_gate += d_sign_gate;
      db[o] += d_gate;
      if (has_two) dc[o] += d_sign_gate;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        dO[k] += d_R * x[i] + d_exponent * logarithm[i] + d_turns * sign(O[k]) * negative(x[i]);
        dG[k] += d_gate * n[i];
        if (has_two) dH[k] += d_sign_gate * n[i];
        if (dx) dx[i] += d_R * O[k] + d_exponent * O[k] / x[i];
      }
      if (dx) normalise_back(s, n, deviation[0], G + o, d_gate, dx);
      if (dx && has_two) normalise_back(s, n, deviation[0], H + o, d_sign_gate, dx);
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* /*w*/, const T* dO, T* dp) {
    if (s.options[operands] != learned) return;
    for (int k = 0; k < s.inputs * s.outputs; ++k) dp[k] += dO[k];
  }

  static Expression ideal(Readout& r, int o) {
    Expression sum = 0.0, turns = 0.0;
    std::vector<Power> powers, sizes;
    for (int i = 0; i < r.inputs(); ++i) {
      const double w = r.snapped("O", i, o);
      const bool whole = w == std::round(w);
      sum += w * r.x(i);
      powers.push_back({whole ? r.x(i) : abs(r.x(i)), w});
      sizes.push_back({abs(r.x(i)), w});
      turns += (whole ? 0 : std::fabs(w)) * negative(r.x(i));
    }
    const Expression product = product_of_powers(powers) * cos(pi * turns);
    const bool has_two = r.option(gates) == two;
    const Expression g = gate_of(r, o, "G", "b"), h = has_two ? gate_of(r, o, "H", "c") : g;
    if (!has_two) return g * sum + (1.0 - g) * product;
    if (g.is_constant(1) && h.is_constant(1)) return sum;
    if (g.is_constant(0) && h.is_constant(0)) return product;
    return (g * abs(sum) + (1.0 - g) * product_of_powers(sizes)) * (h * sign(sum) + (1.0 - h) * sign(product));
  }

 private:
  template <class T, class Shape, class Gate>
  static void mix(const Shape& s, const T* p, const T* O, const T* x, T* y, T* step, Gate gate) {
    const auto [O_raw, G, b, H, c] = unpack<parameters>(s, p);
    const auto [logarithm, n, deviation, R, m, sign_R, sine, sign_m, g, h] = unpack<steps>(s, step);
    const T mean = normalise(s, x, n, deviation[0]);
    for (int o = 0; o < s.outputs; ++o) {
      T exponent = O[o] * logarithm[0], turns = abs(O[o]) * negative(x[0]);
      for (int i = 1; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        exponent += O[k] * logarithm[i];
        turns += abs(O[k]) * negative(x[i]);
      }
      const auto circle = sincos(turns * pi);
      R[o] = weighted_sum(s, x, O, o);
      m[o] = exp(min(largest_exponent, exponent));
      sign_R[o] = tanh(R[o] * steepness);
      sine[o] = circle.sin;
      sign_m[o] = circle.cos;
      g[o] = gate(logit(s, x, mean, deviation[0], G + o) + b[o]);
      h[o] = s.options[gates] == two ? gate(logit(s, x, mean, deviation[0], H + o) + c[o]) : g[o];
      y[o] = (g[o] * abs(R[o]) + (1.0 - g[o]) * m[o]) * (h[o] * sign_R[o] + (1.0 - h[o]) * sign_m[o]);
    }
  }

  // All in differences from the first input: what narrow ranges have in common costs no digits. The mean is theirs.
  template <class T, class Shape>
  static T normalise(const Shape& s, const T* x, T* n, T& deviation) {
    const double share = 1.0 / s.inputs;
    T mean = 0.0, square = 0.0;
    for (int i = 1; i < s.inputs; ++i) {
      const T difference = x[i] - x[0];
      mean += difference * share;
      square += difference * difference * share;
    }
    deviation = sqrt(square - mean * mean + variance_floor);
    for (int i = 0; i < s.inputs; ++i) n[i] = (x[i] - x[0] - mean) / deviation;
    return mean;
  }

  // sum_i n_i G_i, with the weights of one output at G[i * outputs]. The mean is taken out of the sum, so that a
  // formula of many inputs has it once and not once per input.
  template <class T, class Weight, class Shape>
  static T logit(const Shape& s, const T* x, const T& mean, const T& deviation, const Weight* G) {
    T sum = 0.0;
    Weight all = G[0];
    for (int i = 1; i < s.inputs; ++i) {
      sum += (x[i] - x[0]) * G[i * s.outputs];
      all += G[i * s.outputs];
    }
    return (sum - mean * all) / deviation;
  }

  // From a gate whose weights are those of one output, G[i * outputs].
  template <class T, class Shape>
  static void normalise_back(const Shape& s, const T* n, const T& deviation, const T* G, const T& d_gate, T* dx) {
    const double share = 1.0 / s.inputs;
    T mean = 0.0, along = 0.0;
    for (int i = 0; i < s.inputs; ++i) {
      mean += G[i * s.outputs] * share;
      along += G[i * s.outputs] * n[i] * share;
    }
    for (int i = 0; i < s.inputs; ++i) dx[i] += d_gate * (G[i * s.outputs] - mean - n[i] * along) / deviation;
  }

  // A number where the inputs cannot change it: they sum to 0, and their squares to less than their count.
  static Expression gate_of(Readout& r, int o, std::string_view weight, std::string_view offset) {
    double mean = 0, square = 0;
    for (int i = 0; i < r.inputs(); ++i) mean += r.parameter(weight, i, o) / r.inputs();
    for (int i = 0; i < r.inputs(); ++i)
      square += (r.parameter(weight, i, o) - mean) * (r.parameter(weight, i, o) - mean);
    const double b = r.parameter(offset, o);
    if (b * b >= r.inputs() * square) return b > 0 ? 1.0 : 0.0;
    std::vector<Expression> x, n(static_cast<std::size_t>(r.inputs()), 0.0);
    std::vector<double> G;
    for (int i = 0; i < r.inputs(); ++i) x.push_back(r.x(i)), G.push_back(r.parameter(weight, i, o));
    const LayerShape shape{r.inputs(), 1, {}};
    Expression deviation = 1.0;
    const Expression common = normalise(shape, x.data(), n.data(), deviation);
    return negative(-(logit(shape, x.data(), common, deviation, G.data()) + b));
  }
};

// O frozen, as published. Which of the two it takes is told to it: half of the answer.
struct DmuFrozen : Dmu {
  static Recipe recipe() {
    Recipe r;
    r.training.clip_norm = 0.01;
    r.training.iterations = 2000;
    return r;
  }
  static constexpr std::string_view differences[] = {
      "Judged as every module here is, by the almost right model; the paper has one threshold of 6.19e-9 for all.",
      "Normalisation, logarithm and its bound as for DMU.",
  };
  static constexpr OptionInfo frozen(double operands_as) {
    OptionInfo option = Dmu::options[operands];
    option.standard = operands_as;
    return option;
  }
  static constexpr ModuleInfo named(std::string_view name, std::string_view title, std::string_view what_is_learned) {
    ModuleInfo result = Dmu::info;
    result.name = name, result.title = title, result.learned = what_is_learned;
    return result;
  }
};

struct DmuAdd : DmuFrozen {
  static constexpr OptionInfo options[] = {frozen(plus), Dmu::options[gates]};
  static constexpr Operation operations[] = {Operation::Add, Operation::Multiply};
  static constexpr ModuleInfo info =
      named("DMU-add", "Domain Mixed Unit for sums and products",
            "whether the sum or the product of all inputs is the output; O = 1 is frozen");
};

struct DmuSub : DmuFrozen {
  static constexpr OptionInfo options[] = {frozen(minus), Dmu::options[gates]};
  static constexpr Operation operations[] = {Operation::Subtract, Operation::Divide};
  static constexpr ModuleInfo info =
      named("DMU-sub", "Domain Mixed Unit for differences and quotients",
            "whether the first input less the others, or divided by them, is the output; O = 1 and -1 are frozen");
};

}  // namespace nalm::modules
