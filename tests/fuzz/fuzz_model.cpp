// Any bytes: a model file is read or refused in one sentence; what was read survives writing and reading again, and its
// formulas and predictions can be computed.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/model.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_message(const std::string& message) {
  require(message.starts_with("fuzz: "));
  require(message.ends_with("."));
}

void check_same(const nalm::Model& a, const nalm::Model& b) {
  require(a.columns == b.columns && a.layers.size() == b.layers.size());
  for (std::size_t k = 0; k < a.layers.size(); ++k) {
    const nalm::Layer &x = a.layers[k], &y = b.layers[k];
    require(x.module == y.module && x.shape == y.shape && x.parameters.size() == y.parameters.size());
    for (std::size_t j = 0; j < x.parameters.size(); ++j) {
      require(std::bit_cast<std::uint64_t>(x.parameters[j]) == std::bit_cast<std::uint64_t>(y.parameters[j]));
    }
  }
}

// Formulas of stacks grow with the product of the layers' sizes.
bool is_small(const nalm::Model& model) {
  if (model.layers.size() > 2) return false;
  for (const nalm::Layer& layer : model.layers) {
    if (layer.shape.inputs * layer.shape.outputs > 64 || layer.parameters.size() > 200) return false;
  }
  return true;
}

void check_formulas(const nalm::Formula& formula, const nalm::Model& model) {
  require(formula.outputs.size() == static_cast<std::size_t>(model.outputs()));
  for (const nalm::Expression& e : formula.outputs) require(nalm::parse_expression(nalm::print(e)).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nalm::Result<nalm::Model> model = nalm::parse_model(text, "fuzz");
  if (!model) {
    check_message(model.error().message);
    return 0;
  }
  const nalm::Result<nalm::Model> again = nalm::parse_model(nalm::to_json(*model), "again");
  require(again.ok());
  check_same(*model, *again);
  if (!is_small(*model)) return 0;
  check_formulas(*nalm::literal_formula(*model, model->column_names()), *model);
  check_formulas(*nalm::ideal_formula(*model, model->column_names()), *model);
  require(!std::isnan(*nalm::sparsity_error(*model)));
  const std::vector<double> row(static_cast<std::size_t>(model->inputs()), -1.5);
  for (const nalm::Precision precision : {nalm::Precision::Float, nalm::Precision::Double}) {
    const nalm::Result<std::vector<double>> y = nalm::predict(*model, row, precision);
    require(y.ok() && y->size() == static_cast<std::size_t>(model->outputs()));
  }
  require(nalm::explain(*model, row).ok());
  return 0;
}
