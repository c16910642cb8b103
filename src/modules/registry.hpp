// A module as the program sees it: what it says about itself, its formulas, and its compiled kernels.
#pragma once

#include <span>

#include "modules/kernels.hpp"
#include "simd/compiled_targets.hpp"

namespace nalm {

struct ModuleEntry {
  const ModuleInfo* info;

  // The module's own forward pass, over formulas (the literal readout) and over plain numbers (explain).
  void (*formula)(const LayerShape&, const Expression* p, const Expression* w, const Expression* x, Expression* y,
                  Expression* step);
  void (*numbers)(const LayerShape&, const double* p, const double* w, const double* x, double* y, double* step);
  void (*weights)(const LayerShape&, const double* p, double* w);
  Expression (*ideal)(Readout&, int output);

  // One per compiled SIMD target, in the order of simd::targets().
  std::span<const ModuleKernels* const> kernels;
};

// Generated from the lists of modules (cmake/modules.cmake).
std::span<const ModuleEntry* const> module_entries();

const ModuleEntry* find_entry(const ModuleInfo* module);  // null for one that is not on the list
// Of a module that has been through check_shape.
inline const ModuleEntry& entry_of(const ModuleInfo& module) { return *find_entry(&module); }

}  // namespace nalm

#define NALM_DECLARE_KERNELS(target) extern const ModuleKernels NALM_KERNELS_NAME(target);
#define NALM_KERNELS_POINTER(target) &NALM_KERNELS_NAME(target),
