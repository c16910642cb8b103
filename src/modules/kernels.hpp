// The compiled form of a module: one table of functions per instruction set and number type.
//
// All arrays are in lane layout: value k of lane l stands at [k * lanes + l], and is aligned for vector loads. A batch
// is x[sample][input][lane] and y[sample][output][lane].
#pragma once

#include "nalm/module.hpp"

namespace nalm {

template <class S>
struct LayerKernels {
  // Effective weights from raw parameters, once per iteration.
  void (*weights)(const LayerShape&, const S* p, S* w);

  // What depends on the input only, [sample][input]; null if the module has nothing of the kind. Where all inputs are
  // known to be finite it takes less time.
  void (*prepare)(const LayerShape&, const S* x, S* prepared, int samples, bool finite);

  // Outputs of a batch. The steps of sample k are kept at step + k * step_stride; a stride of 0 keeps only the last.
  void (*forward)(const LayerShape&, const S* p, const S* w, const S* x, S* y, S* step, int step_stride, int samples);

  // The same in the form that the module trains in; null if that is no other. noise: a factor per sample and input,
  // or null if the module takes none.
  void (*training_forward)(const LayerShape&, const S* p, const S* w, const S* x, const S* noise, S* y, S* step,
                           int step_stride, int samples);

  // Adds to dp and dw (and to dx, unless null) the gradient of a loss whose gradient with respect to y is dy.
  void (*backward)(const LayerShape&, const S* p, const S* w, const S* x, const S* y, const S* step, int step_stride,
                   const S* dy, S* dx, S* dp, S* dw, int samples);

  // The same for the module's own loss, times scale / 2, whose targets are t; null if it has none.
  void (*own_backward)(const LayerShape&, const S* p, const S* w, const S* x, const S* y, const S* step,
                       int step_stride, const S* t, double scale, S* dx, S* dp, S* dw, int samples);

  // (training_)forward and backward in one: dy = loss_gradient * scale, with (y - t) for no loss. For a layer that is
  // the whole network; the sums over the batch may be taken in another order than by the two calls above. prepared is
  // what prepare gave. Null in double.
  void (*learn)(const LayerShape&, const S* p, const S* w, const S* x, const S* prepared, const S* noise, const S* t,
                double scale, const Loss* loss, S* step, S* dp, S* dw, int samples);

  // Sum over the batch and the outputs of (y - t)^2 in double, one sum per lane, added to sums.
  void (*squared_error)(const LayerShape&, const S* p, const S* w, const S* x, const S* prepared, const S* t, S* y,
                        S* step, double* sums, int samples);

  // Adds the gradient of the raw parameters that follows from that of the effective weights.
  void (*pull_back)(const LayerShape&, const S* p, const S* w, const S* dw, S* dp);
};

struct ModuleKernels {
  LayerKernels<float> in_float;
  LayerKernels<double> in_double;

  template <class S>
  const LayerKernels<S>& of() const {
    if constexpr (sizeof(S) == sizeof(float)) {
      return in_float;
    } else {
      return in_double;
    }
  }
};

}  // namespace nalm
