// Formulas and model files.
#include "common.hpp"

#include "nalm/expression.hpp"
#include "nalm/formula_export.hpp"
#include "nalm/model.hpp"
#include "nalm/train.hpp"

namespace nalm::python {
namespace {

std::vector<std::size_t> sizes(const std::vector<int>& dimensions) { return {dimensions.begin(), dimensions.end()}; }

// {name: array} of one layer; `values` are in the order of Layer::parameters.
nb::dict by_name(const Layer& layer, const std::vector<double>& values) {
  nb::dict result;
  const double* next = values.data();
  for (const ParameterInfo& p : layer.module->parameters) {
    if (!is_present(p, layer.shape)) continue;
    const std::size_t size = static_cast<std::size_t>(size_of(*layer.module, p.axes, layer.shape));
    result[nb::str(p.name.data(), p.name.size())] =
        to_numpy(std::vector<double>(next, next + size), sizes(dimensions(*layer.module, p, layer.shape)));
    next += size;
  }
  return result;
}

nb::dict described(const ExplainedArray& a) {
  nb::dict array;
  array["name"] = a.name;
  array["formula"] = a.formula;
  array["values"] = to_numpy(a.values, sizes(a.dimensions));
  return array;
}

nb::list explained(const Model& model, const std::vector<double>& input) {
  nb::list layers;
  for (const ExplainedLayer& l : take(explain(model, input))) {
    nb::dict layer;
    nb::list weights, steps;
    for (const ExplainedArray& a : l.weights) weights.append(described(a));
    for (const ExplainedArray& a : l.steps) steps.append(described(a));
    layer["module"] = std::string(l.module->name);
    layer["inputs"] = to_numpy(l.inputs, {l.inputs.size()});
    layer["weights"] = weights;
    layer["steps"] = steps;
    layer["outputs"] = to_numpy(l.outputs, {l.outputs.size()});
    layers.append(layer);
  }
  return layers;
}

}  // namespace

void bind_models(nb::module_& m) {
  nb::class_<Expression>(m, "Expression")
      .def("__init__",
           [](Expression* self, const std::string& text) { new (self) Expression(take(parse_expression(text))); })
      .def("__str__", [](const Expression& e) { return print(e); })
      .def("variables", [](const Expression& e) { return variables(e); })
      .def("export",
           [](const Expression& e, const std::string& format, const std::string& target,
              const std::vector<std::string>& columns) {
             return export_formula(e, target, columns, take(find_format(format)));
           })
      .def(
          "evaluate",
          [](const Expression& e, const std::vector<std::string>& names, const Matrix& rows) {
            std::vector<double> result(rows.shape(0));
            if (rows.shape(1) != names.size()) throw Failure("every column needs a name, and every name a column.");
            {
              const nb::gil_scoped_release release;
              for (std::size_t r = 0; r < result.size(); ++r)
                result[r] = take(evaluate(e, names, {rows.data() + r * names.size(), names.size()}));
            }
            return to_numpy(std::move(result), {rows.shape(0)});
          },
          nb::arg("names"), nb::arg("rows").noconvert());

  nb::class_<Model>(m, "Model")
      .def_static("parse",
                  [](const std::string& json, const std::string& name) { return take(parse_model(json, name)); })
      .def_static("load", [](const std::string& path) { return take(load_model(path)); })
      // A stack with start values.
      .def_static("make",
                  [](const std::string& stack, int inputs, std::uint64_t seed) {
                    Trainer trainer = take(Trainer::create(default_training(take(parse_stack(stack, inputs)))));
                    take(trainer.start(0, seed));
                    return take(trainer.model(0));
                  })
      .def("save", [](const Model& model, const std::string& path) { take(save_model(model, path)); })
      .def("to_json", [](const Model& model) { return to_json(model); })
      .def_prop_ro("inputs", [](const Model& model) { return model.inputs(); })
      .def_prop_ro("outputs", [](const Model& model) { return model.outputs(); })
      .def_prop_ro("stack", [](const Model& model) { return print(model.stack()); })
      .def_prop_rw(
          "columns", [](const Model& model) { return model.column_names(); },
          [](Model& model, std::vector<std::string> names) {
            if (names.size() != static_cast<std::size_t>(model.inputs()))
              throw Failure("a model has as many columns as inputs.");
            model.columns = std::move(names);
          })
      .def_prop_ro("target", [](const Model& model) { return model.target; })
      .def("parameters",
           [](const Model& model) {
             nb::list layers;
             for (const Layer& layer : model.layers) layers.append(by_name(layer, layer.parameters));
             return layers;
           })
      .def("set_parameters",
           [](Model& model, std::size_t layer, const nb::ndarray<const double, nb::ndim<1>, nb::c_contig>& values) {
             Layer& l = model.layers.at(layer);
             if (values.size() != l.parameters.size()) throw Failure("the layer has another number of parameters.");
             l.parameters.assign(values.data(), values.data() + values.size());
           })
      .def(
          "predict",
          [](const Model& model, const Matrix& rows, bool in_double) {
            std::vector<double> result;
            {
              const nb::gil_scoped_release release;
              result = take(predict(model, numbers(rows), in_double ? Precision::Double : Precision::Float));
            }
            return to_numpy(std::move(result), {rows.shape(0), static_cast<std::size_t>(model.outputs())});
          },
          nb::arg("rows").noconvert(), nb::arg("in_double"))
      .def(
          "gradients",
          [](const Model& model, const Matrix& rows, const Matrix& targets, bool in_double) {
            Gradients g;
            {
              const nb::gil_scoped_release release;
              g = take(
                  gradients(model, numbers(rows), numbers(targets), in_double ? Precision::Double : Precision::Float));
            }
            nb::list layers;
            for (std::size_t k = 0; k < g.layers.size(); ++k) layers.append(by_name(model.layers[k], g.layers[k]));
            return nb::make_tuple(g.mse, layers, to_numpy(std::move(g.inputs), {rows.shape(0), rows.shape(1)}));
          },
          nb::arg("rows").noconvert(), nb::arg("targets").noconvert(), nb::arg("in_double"))
      .def("sparsity_error", [](const Model& model) { return take(sparsity_error(model)); })
      .def("explain", &explained)
      .def("stated_formula", [](const Model& model) { return take(stated_formula(model)); })
      .def("formula_size", [](const Model& model) { return formula_size(model); })
      .def("formula", [](const Model& model, const std::vector<std::string>& columns, bool literal) {
        const Formula f = take(literal ? literal_formula(model, columns) : ideal_formula(model, columns));
        return nb::make_tuple(f.outputs, f.notes, f.discrete);
      });
}

}  // namespace nalm::python
