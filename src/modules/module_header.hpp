// What a module's header must have, checked where its kernels are defined, so that a mistake in it is one sentence.
#pragma once

#include <concepts>

#include "modules/whole_forward.hpp"
#include "nalm/expression.hpp"
#include "nalm/module.hpp"

namespace nalm {

template <class M>
concept HasFunctions = requires(const LayerShape& s, const double* in, double* out, Readout& readout) {
  M::weights(s, in, out);
  M::forward(s, in, in, in, out, out);
  M::backward(s, in, in, in, in, in, in, out, out, out);
  M::pull_back(s, in, in, in, out);
  { M::ideal(readout, 0) } -> std::convertible_to<Expression>;
};
template <class M>
concept HasPromisedFunctions = requires(const LayerShape& s, const double* in, double* out) {
  requires !HasPrepare<M> || requires { M::steps; };
  requires !HasTrainingForm<M> || requires { M::train_forward(s, in, in, in, in, out, out); };
  requires !HasOwnLoss<M> || requires { M::own_backward(s, in, in, in, in, in, in, *in, out, out, out); };
};

inline Recipe ordinary_recipe() { return {}; }

// What a header says in its `info`, with the tables that stand beside it under their own names.
template <class M>
constexpr ModuleInfo info_of() {
  ModuleInfo info = M::info;
  info.differences = M::differences;
  info.parameters = M::parameters;
  info.weights = M::weights_info;
  info.recipe = ordinary_recipe;
  if constexpr (requires { M::options; }) info.options = M::options;
  if constexpr (requires { M::steps; }) info.steps = M::steps;
  if constexpr (HasPrepare<M> && requires { M::steps; }) info.prepared = M::steps[0].formula;
  if constexpr (requires { M::operations; }) info.operations = M::operations;
  if constexpr (requires { M::recipe; }) info.recipe = M::recipe;
  return info;
}

constexpr bool is_complete(const ModuleInfo& m) {
  for (std::string_view text : {m.name, m.title, m.citation, m.formula, m.learned, m.unusual_inputs})
    if (text.empty()) return false;
  return !m.differences.empty() && !m.parameters.empty() && !m.weights.empty();
}
constexpr bool names_differ(const auto& table) {
  for (std::size_t i = 0; i < table.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (table[i].name == table[j].name) return false;
  return true;
}
constexpr bool divisors_follow_weights(const ModuleInfo& m) {
  for (std::size_t k = 0; k < m.weights.size(); ++k)
    if (m.weights[k].role == Role::Divisor && (k == 0 || m.weights[k - 1].role != Role::Weight)) return false;
  return true;
}

template <class M>
consteval bool check_header() {
  static_assert(
      HasFunctions<M>,
      "The header lacks a function, or has it with other arguments: the note below says how it is called, and "
      "skeleton.hpp shows each of them.");
  static_assert(
      HasPromisedFunctions<M>,
      "The header has a function prepare without steps, or its info has `training_form` without train_forward or "
      "`own_loss` without own_backward.");
  constexpr ModuleInfo info = info_of<M>();
  static_assert(is_complete(info), "A text is missing in the header's info, or a table is empty.");
  static_assert(names_differ(info.parameters) && names_differ(info.weights),
                "Two arrays in a table of the header have the same name.");
  static_assert(divisors_follow_weights(info), "An array with the role Divisor must follow the Weight it belongs to.");
  return HasFunctions<M> && HasPromisedFunctions<M>;
}

}  // namespace nalm
