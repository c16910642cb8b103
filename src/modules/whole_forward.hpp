// A module's forward pass of one sample. Some modules split off what depends on the input only, as `prepare`.
#pragma once

namespace nalm {

template <class M>
concept HasPrepare = !M::info.prepared.empty();

template <class M, class T, class Shape>
void whole_forward(const Shape& s, const T* p, const T* w, const T* x, T* y, T* step) {
  if constexpr (HasPrepare<M>) M::prepare(s, x, step);
  M::forward(s, p, w, x, y, step);
}

}  // namespace nalm
