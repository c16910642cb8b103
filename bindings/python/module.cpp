// nalm._nalm: the C++ library for the package nalm, which makes it pleasant. Nothing is computed in these files.
#include "common.hpp"
#include "nalm/version.hpp"

NB_MODULE(_nalm, m) {
  using namespace nalm::python;
  m.doc() = "The C++ library behind nalm. Import nalm instead.";
  nb::exception<Failure>(m, "Error", PyExc_ValueError);
  m.def("version", [] { return std::string(nalm::version()); });
  m.def("simd_target", [] { return std::string(nalm::simd_target()); });
  bind_modules(m);
  bind_models(m);
  bind_fits(m);
  bind_trainer(m);
  bind_results(m);
}
