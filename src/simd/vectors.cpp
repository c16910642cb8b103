#include "simd/vectors.hpp"

#include "simd/compiled_targets.hpp"

namespace nalm::simd {

#define NALM_DECLARE_VECTORS(target) extern const VectorKernels vector_kernels_##target;
NALM_FOR_EACH_TARGET(NALM_DECLARE_VECTORS)

const VectorKernels& vector_kernels(const Target& target) {
#define NALM_VECTORS(target) &vector_kernels_##target,
  static constexpr const VectorKernels* tables[] = {NALM_FOR_EACH_TARGET(NALM_VECTORS)};
  return *tables[static_cast<std::size_t>(target.index)];
}

}  // namespace nalm::simd
