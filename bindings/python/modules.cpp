// The registry, and single layers as functions of a batch, for PyTorch.
#include "common.hpp"

#include "nalm/layer.hpp"
#include "nalm/module.hpp"
#include "nalm/stack.hpp"
#include "nalm/train.hpp"
#include "train/recipe_fields.hpp"

namespace nalm::python {
namespace {

std::string text(std::string_view view) { return std::string(view); }

nb::dict describe(const ModuleInfo& m) {
  nb::dict module;
  module["name"] = text(m.name);
  module["other_name"] = text(m.other_name);
  module["title"] = text(m.title);
  module["citation"] = text(m.citation);
  module["formula"] = text(m.formula);
  module["learned"] = text(m.learned);
  module["unusual_inputs"] = text(m.unusual_inputs);
  module["training_form"] = text(m.training_form);
  module["takes_noise"] = m.takes_noise;
  module["truth_values"] = m.truth_values;
  module["positive_inputs"] = m.positive_inputs;
  module["outputs_multiple_of"] = m.outputs_multiple_of;
  nb::list differences, operations, parameters, options;
  for (const std::string_view d : m.differences) differences.append(text(d));
  for (const Operation o : m.operations) operations.append(text(name_of(o)));
  for (const ParameterInfo& p : m.parameters) {
    nb::dict parameter;
    parameter["name"] = text(p.name);
    parameter["meaning"] = text(p.meaning);
    parameter["clamp"] = p.clamp ? nb::object(nb::make_tuple(p.clamp->lo, p.clamp->hi)) : nb::none();
    parameters.append(parameter);
  }
  for (const OptionInfo& o : m.options) {
    nb::dict option;
    option["name"] = text(o.name);
    option["meaning"] = text(o.meaning);
    nb::list choices;
    for (const std::string_view choice : o.choices)
      if (!choice.empty()) choices.append(text(choice));
    const bool chosen = !o.choices[0].empty();
    option["default"] = chosen ? nb::object(nb::str(text(o.choices[static_cast<std::size_t>(o.standard)]).c_str()))
                               : nb::cast(o.standard);
    option["choices"] = choices;
    options.append(option);
  }
  module["differences"] = differences;
  module["operations"] = operations;
  module["parameters"] = parameters;
  module["options"] = options;
  module["recipe"] = to_json(m.recipe());
  return module;
}

// A layer without its numbers: PyTorch keeps them.
class LayerFunction {
 public:
  LayerFunction(const std::string& name, int inputs, int outputs, const std::string& options) {
    const std::string spelled = name + ":" + std::to_string(outputs) + (options.empty() ? "" : "(" + options + ")");
    const Stack stack = take(parse_stack(spelled, inputs));
    take(check_stack(stack));
    layer_ = stack.at(0);
  }

  // Names and shapes of the parameters that this layer has.
  nb::list parameters() const {
    nb::list result;
    for (const ParameterInfo& p : layer_.module->parameters)
      if (is_present(p, layer_.shape))
        result.append(nb::make_tuple(text(p.name), dimensions(*layer_.module, p, layer_.shape)));
    return result;
  }

  nb::object start(std::uint64_t seed) const {
    std::vector<double> values = start_values(layer_, seed);
    const std::size_t count = values.size();
    return to_numpy(std::move(values), {count});
  }

  template <class S>
  using Rows = nb::ndarray<const S, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  template <class S>
  using Numbers = nb::ndarray<const S, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  template <class S>
  using Output = nb::ndarray<S, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  template <class S>
  using Gradient = nb::ndarray<S, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

  template <class S>
  void forward(const Numbers<S>& parameters, const Rows<S>& x, const std::optional<Rows<S>>& noise, bool training,
               const Output<S>& y) const {
    const LayerBatch<S> batch = checked(parameters, x, noise);
    check(y.shape(0) == x.shape(0) && y.shape(1) == outputs());
    const nb::gil_scoped_release release;
    layer_forward(layer_, batch, training, y.data());
  }

  template <class S>
  void backward(const Numbers<S>& parameters, const Rows<S>& x, const std::optional<Rows<S>>& noise, const Rows<S>& dy,
                const std::optional<Output<S>>& dx, const Gradient<S>& gradient) const {
    const LayerBatch<S> batch = checked(parameters, x, noise);
    check(dy.shape(0) == x.shape(0) && dy.shape(1) == outputs() && gradient.size() == count());
    check(!dx || (dx->shape(0) == x.shape(0) && dx->shape(1) == x.shape(1)));
    const nb::gil_scoped_release release;
    layer_backward(layer_, batch, dy.data(), dx ? dx->data() : nullptr, gradient.data());
  }

 private:
  std::size_t outputs() const { return static_cast<std::size_t>(layer_.shape.outputs); }
  std::size_t count() const { return static_cast<std::size_t>(parameter_count(*layer_.module, layer_.shape)); }
  static void check(bool right) {
    if (!right) throw Failure("the arrays do not have the shapes of this layer.");
  }
  template <class S>
  LayerBatch<S> checked(const Numbers<S>& parameters, const Rows<S>& x, const std::optional<Rows<S>>& noise) const {
    check(x.shape(1) == static_cast<std::size_t>(layer_.shape.inputs) && parameters.size() == count());
    check(!noise || (noise->shape(0) == x.shape(0) && noise->shape(1) == x.shape(1)));
    return {parameters.data(), x.data(), x.shape(0), noise ? noise->data() : nullptr};
  }

  LayerSpec layer_;
};

}  // namespace

void bind_modules(nb::module_& m) {
  m.def("modules", [] {
    nb::list all;
    for (const ModuleInfo* module : all_modules()) all.append(describe(*module));
    return all;
  });
  m.def("find_module", [](const std::string& name) { return text(take(find_module(name))->name); });
  // The recipe of a stack, with changes, as JSON.
  m.def("recipe", [](const std::string& stack, int inputs, const std::string& changes) {
    const Recipe recipe = default_recipe(take(parse_stack(stack, inputs)));
    return to_json(changes.empty() ? recipe : take(change_recipe(recipe, changes)));
  });
  // The factor of each regulariser of a module's own recipe at an iteration.
  m.def("regulariser_coefficients", [](const std::string& name, long iteration) {
    const Recipe recipe = take(find_module(name))->recipe();
    std::vector<double> factors;
    for (const Regulariser& r : recipe.layers.at(0).regularisers) factors.push_back(r.coefficient(iteration));
    return factors;
  });

  nb::class_<LayerFunction>(m, "LayerFunction")
      .def(nb::init<const std::string&, int, int, const std::string&>(), nb::arg("module"), nb::arg("inputs"),
           nb::arg("outputs"), nb::arg("options") = "")
      .def_prop_ro("parameters", &LayerFunction::parameters)
      .def("start", &LayerFunction::start, nb::arg("seed"))
      .def("forward", &LayerFunction::forward<float>, nb::arg("parameters").noconvert(), nb::arg("x").noconvert(),
           nb::arg("noise").noconvert().none(), nb::arg("training"), nb::arg("y").noconvert())
      .def("forward", &LayerFunction::forward<double>, nb::arg("parameters").noconvert(), nb::arg("x").noconvert(),
           nb::arg("noise").noconvert().none(), nb::arg("training"), nb::arg("y").noconvert())
      .def("backward", &LayerFunction::backward<float>, nb::arg("parameters").noconvert(), nb::arg("x").noconvert(),
           nb::arg("noise").noconvert().none(), nb::arg("dy").noconvert(), nb::arg("dx").noconvert().none(),
           nb::arg("gradient").noconvert())
      .def("backward", &LayerFunction::backward<double>, nb::arg("parameters").noconvert(), nb::arg("x").noconvert(),
           nb::arg("noise").noconvert().none(), nb::arg("dy").noconvert(), nb::arg("dx").noconvert().none(),
           nb::arg("gradient").noconvert());
}

}  // namespace nalm::python
