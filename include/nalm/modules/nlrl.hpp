// NLRL: rules over truth values: which inputs, negated or not, joined by AND or by OR.
//
//   N = sigmoid(G_neg),   A = sigmoid(A_hat),   S = sigmoid(G_out)
//   n_io = (1 - N_io) x_i + N_io (1 - x_i)
//   and_o = prod_i n_io ^ A_io,   or_o = 1 - prod_i (1 - A_io n_io)
//   y_o = (1 - S_o) and_o + S_o or_o
//
// Reimann and Schwung, "Neural Logic Rule Layers", arXiv 2019; Information Sciences 2022.
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

struct Nlrl {
  static constexpr double smallest = 1e-10;

  // Options and their values, in this order.
  enum Option { form, or_kind, output_negation };
  static constexpr double full = 0, and_only = 1, or_only = 2;
  static constexpr double closed = 0, demorgan = 1;

  static constexpr OptionInfo options[] = {
      {.name = "form",
       .meaning = "full: AND and OR with a gate; and, or: only one of them, without G_out",
       .standard = full,
       .choices = {"full", "and", "or"}},
      {.name = "or",
       .meaning = "closed: 1 - prod(1 - A*n), the closed form of the Kronecker product; demorgan: "
                  "1 - prod((1 - n)^A), the negated AND of the negations",
       .standard = closed,
       .choices = {"closed", "demorgan"}},
      {.name = "output_negation",
       .meaning = "yes: the output can be negated too, by G_out_neg",
       .standard = 0,
       .choices = {"no", "yes"}},
  };
  static constexpr ParameterInfo parameters[] = {
      {"G_neg", per_input_and_output, Start::uniform(-0.5, 0.5), {}, "whether the input is negated"},
      {"A_hat", per_input_and_output, Start::uniform(-0.5, 0.5), {}, "whether the input takes part in the rule"},
      {"G_out", per_output, Start::uniform(-0.5, 0.5), {}, "AND (negative) or OR (positive)", {form, full}},
      {"G_out_neg", per_output, Start::uniform(-0.5, 0.5), {}, "whether the output is negated", {output_negation, 1}},
  };
  static constexpr double mixture[] = {0, 0.5, 1};
  static constexpr Quantity weights_info[] = {
      {"N", per_input_and_output, "sigmoid(G_neg)", Role::Weight, discrete::bits},
      {"A", per_input_and_output, "sigmoid(A_hat)", Role::Weight, discrete::bits},
      {"S", per_output, "sigmoid(G_out); 0 for AND only, 1 for OR only", Role::Detail, {mixture}},
      {"output N", per_output, "sigmoid(G_out_neg); 0 without output negation", Role::Detail, discrete::bits},
  };
  static constexpr Quantity steps[] = {
      {"literal n", per_input_and_output, "(1 - N)*x + N*(1 - x)"},
      {"logarithm", per_input_and_output, "ln(max(n, 1e-10))"},
      {"complement", per_input_and_output, "closed: 1 - A*n; demorgan: ln(max(1 - n, 1e-10))"},
      {"complements before", per_input_and_output, "closed: the complements of earlier inputs, multiplied"},
      {"and", per_output, "exp(sum_i A_io*logarithm_io)"},
      {"none", per_output, "prod_i (1 - A_io*n_io), so that or = 1 - none"},
      {"rule z", per_output, "(1 - S)*and + S*or"},
  };

  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 0.1};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "A is squashed by a sigmoid and there is one selection gate per output, as in the public implementations; the "
      "survey prints A unsquashed and one gate per input.",
      "Gate 1 means OR. The survey's text says AND, its formula OR.",
      "The disjunction is the closed form 1 - prod(1 - A*n) of the Kronecker product, which has 2^I terms; the survey "
      "prints that product with a bracket in the wrong place.",
      "or = demorgan is what the published table of functions used; both agree where A is 0 or 1.",
      "Logarithms are taken of max(n, 1e-10); other implementations clamp to [1e-4, 1 - 1e-4].",
  };
  static constexpr ModuleInfo info{
      .name = "NLRL",
      .title = "Neural Logic Rule Layer",
      .citation = "Reimann, Schwung: Neural Logic Rule Layers, Information Sciences 2022 (arXiv 2019)",
      .formula =
          "n_io = (1 - N_io)*x_i + N_io*(1 - x_i); and = prod_i n_io^A_io; or = 1 - prod_i (1 - A_io*n_io); "
          "y_o = (1 - S_o)*and + S_o*or; N = sigmoid(G_neg), A = sigmoid(A_hat), S = sigmoid(G_out)",
      .learned = "which inputs, negated or not, join a rule, and whether it is an AND or an OR",
      .unusual_inputs =
          "meant for truth values in [0, 1]. Outside, the AND still takes max(n, 1e-10), so negative "
          "literals count as 1e-10; the OR is a polynomial and leaves [0, 1]. NaN and infinities give "
          "NaN; 0 and denormals are ordinary (AND: 1e-10).",
      .truth_values = true,
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const bool has_gate = s.options[form] == full, has_negation = s.options[output_negation] != 0;
    const auto [G_neg, A_hat, G_out, G_out_neg] = unpack<parameters>(s, p);
    const auto [N, A, S, output_N] = unpack<weights_info>(s, w);
    for (int k = 0; k < s.inputs * s.outputs; ++k) {
      N[k] = sigmoid(G_neg[k]);
      A[k] = sigmoid(A_hat[k]);
    }
    for (int o = 0; o < s.outputs; ++o) {
      S[o] = has_gate ? sigmoid(G_out[o]) : T(s.options[form] == or_only ? 1.0 : 0.0);
      output_N[o] = has_negation ? sigmoid(G_out_neg[o]) : T(0.0);
    }
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const bool need_and = s.options[form] != or_only, need_or = s.options[form] != and_only;
    const bool is_closed = s.options[or_kind] == closed;
    const auto [N, A, S, output_N] = unpack<weights_info>(s, w);
    const auto [literal, logarithm, complement, before, and_, none, rule] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T log_sum = 0.0, product = 1.0, complement_sum = 0.0;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        literal[k] = (1.0 - N[k]) * x[i] + N[k] * (1.0 - x[i]);
        logarithm[k] = complement[k] = before[k] = 0.0;
        if (need_and) {
          logarithm[k] = log(max(smallest, literal[k]));
          log_sum += A[k] * logarithm[k];
        }
        if (need_or && is_closed) {
          complement[k] = 1.0 - A[k] * literal[k];
          before[k] = product;
          product *= complement[k];
        } else if (need_or) {
          complement[k] = log(max(smallest, 1.0 - literal[k]));
          complement_sum += A[k] * complement[k];
        }
      }
      and_[o] = need_and ? exp(log_sum) : T(0.0);
      none[o] = !need_or ? T(1.0) : is_closed ? product : exp(complement_sum);
      if (need_and && need_or) {
        rule[o] = (1.0 - S[o]) * and_[o] + S[o] * (1.0 - none[o]);
      } else {
        rule[o] = need_and ? and_[o] : 1.0 - none[o];
      }
      y[o] = s.options[output_negation] == 0 ? rule[o] : (1.0 - output_N[o]) * rule[o] + output_N[o] * (1.0 - rule[o]);
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const bool need_and = s.options[form] != or_only, need_or = s.options[form] != and_only;
    const bool is_closed = s.options[or_kind] == closed;
    const auto [N, A, S, output_N] = unpack<weights_info>(s, w);
    const auto [dN, dA, dS, d_output_N] = unpack<weights_info>(s, dw);
    const auto [literal, logarithm, complement, before, and_, none, rule] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      d_output_N[o] += dy[o] * (1.0 - 2.0 * rule[o]);
      const T d_rule = dy[o] * (1.0 - 2.0 * output_N[o]);
      dS[o] += d_rule * (1.0 - none[o] - and_[o]);
      const T d_log_sum = d_rule * (1.0 - S[o]) * and_[o];
      const T d_none = -(d_rule * S[o]);
      const T d_complement_sum = d_none * none[o];
      T after = d_none;
      for (int i = s.inputs - 1; i >= 0; --i) {
        const int k = i * s.outputs + o;
        T d_literal = 0.0;
        if (need_and) {
          dA[k] += d_log_sum * logarithm[k];
          d_literal += where(literal[k] > smallest, d_log_sum * A[k] / literal[k], 0.0);
        }
        if (need_or && is_closed) {
          const T d_complement = before[k] * after;
          dA[k] -= d_complement * literal[k];
          d_literal -= d_complement * A[k];
          after *= complement[k];
        } else if (need_or) {
          dA[k] += d_complement_sum * complement[k];
          d_literal -= where(1.0 - literal[k] > smallest, d_complement_sum * A[k] / (1.0 - literal[k]), 0.0);
        }
        dN[k] += d_literal * (1.0 - 2.0 * x[i]);
        if (dx) dx[i] += d_literal * (1.0 - 2.0 * N[k]);
      }
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* w, const T* dw, T* dp) {
    const bool has_gate = s.options[form] == full, has_negation = s.options[output_negation] != 0;
    const auto [N, A, S, output_N] = unpack<weights_info>(s, w);
    const auto [dN, dA, dS, d_output_N] = unpack<weights_info>(s, dw);
    const auto [dG_neg, dA_hat, dG_out, dG_out_neg] = unpack<parameters>(s, dp);
    for (int k = 0; k < s.inputs * s.outputs; ++k) {
      dG_neg[k] += dN[k] * (N[k] * (1.0 - N[k]));
      dA_hat[k] += dA[k] * (A[k] * (1.0 - A[k]));
    }
    for (int o = 0; o < s.outputs; ++o) {
      if (has_gate) dG_out[o] += dS[o] * (S[o] * (1.0 - S[o]));
      if (has_negation) dG_out_neg[o] += d_output_N[o] * (output_N[o] * (1.0 - output_N[o]));
    }
  }

  static Expression ideal(Readout& r, int o) {
    const double S = r.snapped("S", o), output_N = r.snapped("output N", o);
    Expression none = 1.0;
    std::vector<Power> and_;
    std::string members;
    for (int i = 0; i < r.inputs(); ++i) {
      const double A = r.snapped("A", i, o);
      if (A == 0) continue;
      const double N = r.snapped("N", i, o);
      const Expression literal = N == 1 ? 1.0 - r.x(i) : (1 - 2 * N) * r.x(i) + N;
      and_.push_back({literal, A});
      none *= r.option(or_kind) == closed ? 1.0 - A * literal : pow(1.0 - literal, A);
      members += (members.empty() ? "" : ", ") + std::string(N == 1 ? "NOT " : "") + print(r.x(i));
    }
    if (r.discrete && !members.empty() && S != 0.5) {
      r.notes.push_back(std::string(output_N == 1 ? "NOT " : "") + (S == 1 ? "OR(" : "AND(") + members + ")");
    }
    const Expression rule = S == 0   ? product_of_powers(and_)
                            : S == 1 ? 1.0 - none
                                     : (1 - S) * product_of_powers(and_) + S * (1.0 - none);
    return output_N == 1 ? 1.0 - rule : (1 - 2 * output_N) * rule + output_N;
  }
};

}  // namespace nalm::modules
