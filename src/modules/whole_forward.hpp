// A module's forward pass of one sample. Some modules split off what depends on the input only, as `prepare`.
#pragma once

#include "nalm/module.hpp"

namespace nalm {

template <class M>
concept HasPrepare = requires(const LayerShape& s, const double* x, double* step) {
  M::prepare(s, x, step);
};

// What some modules prepare is log(inside_logarithm(x)), and of a finite x that is a positive normal number.
template <class M>
concept PreparesLogarithms = HasPrepare<M> && requires(const double& x) {
  M::inside_logarithm(x);
};

template <class M, class T, class Shape>
void whole_forward(const Shape& s, const T* p, const T* w, const T* x, T* y, T* step) {
  if constexpr (HasPrepare<M>) M::prepare(s, x, step);
  M::forward(s, p, w, x, y, step);
}

// Some modules train in another form than they are evaluated in.
template <class M>
concept HasTrainingForm = !M::info.training_form.empty();

// Some modules have a loss of their own.
template <class M>
concept HasOwnLoss = !M::info.own_loss.empty();

// The form that backward belongs to. Expects what `prepare` gave in the first steps.
template <class M, class T, class Shape>
void training_forward(const Shape& s, const T* p, const T* w, const T* x, [[maybe_unused]] const T* noise, T* y,
                      T* step) {
  if constexpr (HasTrainingForm<M>) {
    M::train_forward(s, p, w, x, noise, y, step);
  } else {
    M::forward(s, p, w, x, y, step);
  }
}

}  // namespace nalm
