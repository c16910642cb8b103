// What can be done with a trained network: model files, predictions, gradients, formulas.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/expression.hpp"
#include "nalm/module.hpp"
#include "nalm/result.hpp"
#include "nalm/stack.hpp"

namespace nalm {

// ---- model files (docs/model-file.md) ------------------------------------------------------------------------------

// source_name is what error messages call the text.
Result<Model> parse_model(std::string_view json, std::string_view source_name);
Result<Model> load_model(const std::string& path);
std::string to_json(const Model& model);
// Writes beside the file and renames, so that a reader never sees half a model and a full disk loses nothing.
Status save_model(const Model& model, const std::string& path);

// ---- computing -----------------------------------------------------------------------------------------------------

// rows: rows x inputs, row-major. Gives rows x outputs. Float results are floats, widened.
Result<std::vector<double>> predict(const Model& model, std::span<const double> rows, Precision precision);

// The formula of a fit with its constants filled in; fails for a model without one.
Result<Expression> stated_formula(const Model& model);

// The gradient of the mean squared error over all rows and outputs.
struct Gradients {
  double mse = 0;
  std::vector<std::vector<double>> layers;  // in the order of Layer::parameters
  std::vector<double> inputs;               // rows x inputs, row-major
};
Result<Gradients> gradients(const Model& model, std::span<const double> rows, std::span<const double> targets,
                            Precision precision);

// max over the sparse weights of min(|w|, |1 - |w||); modules with two weight arrays take the mean of their maxima,
// stacks the maximum over layers.
Result<double> sparsity_error(const Model& model);

// ---- formulas ------------------------------------------------------------------------------------------------------

struct Formula {
  std::vector<Expression> outputs;
  std::vector<std::string> notes;  // what is not discrete; relations and rules in words
  bool discrete = true;
};

// The formula of a deep stack grows with the product of its layers' widths; formula_size is a bound on the number of
// terms.
double formula_size(const Model& model);

// Exactly what the model computes, every epsilon, abs and sigmoid spelled out.
Result<Formula> literal_formula(const Model& model, const std::vector<std::string>& columns);

// What the model means: weights within 1e-3 of a discrete value rounded, epsilons dropped.
Result<Formula> ideal_formula(const Model& model, const std::vector<std::string>& columns);

// The model with its parameters where its ideal formula has them, so that it computes what that says, but for the
// epsilons that the formula leaves out. Fails for a model whose weights are not discrete yet.
Result<Model> rounded(const Model& model);

// The computation for one input, step by step.
struct ExplainedArray {
  std::string name;
  std::string formula;
  std::vector<int> dimensions;
  std::vector<double> values;
};
struct ExplainedLayer {
  const ModuleInfo* module = nullptr;
  std::vector<double> inputs;
  std::vector<ExplainedArray> weights;
  std::vector<ExplainedArray> steps;
  std::vector<double> outputs;
};
Result<std::vector<ExplainedLayer>> explain(const Model& model, std::span<const double> input);

}  // namespace nalm
