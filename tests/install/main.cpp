// Reads a model, predicts, and prints the formula, with nothing but the installed headers and library.
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include <nalm/modules/mathematics.hpp>
#include <nalm/nalm.hpp>

// What modules calculate with stays among them: these are of formulas, not of numbers.
static_assert(std::is_same_v<decltype(nalm::abs(1.0)), nalm::Expression>);
static_assert(std::is_same_v<decltype(nalm::min(1.0, 2.0)), nalm::Expression>);

namespace {

int failure(const std::string& what) {
  std::fprintf(stderr, "consumer: %s\n", what.c_str());
  return 1;
}

}  // namespace

int main() {
  const nalm::Result<nalm::Model> model = nalm::parse_model(
      R"({"format": "nalm-model", "version": 1, "columns": ["a", "b"], "layers": [
          {"module": "NAU", "inputs": 2, "outputs": 1, "parameters": {"W": [[1], [-1]]}}]})",
      "difference.json");
  if (!model) return failure(model.error().message);

  const std::vector<double> row = {7.5, 3.25};
  for (const nalm::Precision precision : {nalm::Precision::Float, nalm::Precision::Double}) {
    const nalm::Result<std::vector<double>> prediction = nalm::predict(*model, row, precision);
    if (!prediction) return failure(prediction.error().message);
    if (*prediction != std::vector<double>{4.25}) return failure("7.5 - 3.25 is not 4.25");
  }

  const nalm::Result<nalm::Formula> formula = nalm::ideal_formula(*model, model->column_names());
  if (!formula) return failure(formula.error().message);
  const std::string text = nalm::print(formula->outputs.at(0));
  std::printf("%s\n", text.c_str());
  if (!formula->discrete || text != "a - b") return failure("the formula should be a - b");
  return 0;
}
