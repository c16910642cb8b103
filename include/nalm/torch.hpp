// Every module as a layer of LibTorch, computed forwards and backwards by the library:
//
//   torch::nn::Sequential network(nalm::TorchLayer("NAU", 4, 2), nalm::TorchLayer("NMU", 2, 1));
//
// Layers run on the CPU, in float32 or float64, and have no second derivative. What does not fit throws c10::Error with
// one sentence, as LibTorch does. nalm.hpp leaves this header out, because it needs LibTorch.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "nalm/nalm.hpp"

namespace nalm {

namespace torch_layer {

template <class T>
T take(Result<T> result) {
  TORCH_CHECK(result.ok(), result.error().message);
  return std::move(result).value();
}

struct Pass : ::torch::CustomClassHolder {
  Pass(const LayerSpec& l, bool t, ::torch::Tensor n) : layer(l), training(t), noise(std::move(n)) {}
  LayerSpec layer;
  bool training;
  ::torch::Tensor noise;  // undefined: none
};

struct Function : ::torch::autograd::Function<Function> {
  using Tensor = ::torch::Tensor;
  using Context = ::torch::autograd::AutogradContext;

  template <class S>
  static LayerBatch<S> batch(const Tensor& parameters, const Tensor& x, const Pass& pass) {
    return {parameters.data_ptr<S>(), x.data_ptr<S>(), static_cast<std::size_t>(x.size(0)),
            pass.noise.defined() ? pass.noise.data_ptr<S>() : nullptr};
  }

  static Tensor forward(Context* context, const Tensor& parameters, const Tensor& x,
                        const c10::intrusive_ptr<Pass>& pass) {
    Tensor y = ::torch::empty({x.size(0), pass->layer.shape.outputs}, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "nalm", [&] {
      layer_forward(pass->layer, batch<scalar_t>(parameters, x, *pass), pass->training, y.data_ptr<scalar_t>());
    });
    context->save_for_backward({parameters, x});
    context->saved_data["pass"] = c10::IValue::make_capsule(pass);
    return y;
  }

  static ::torch::autograd::tensor_list backward(Context* context, const ::torch::autograd::tensor_list& gradients) {
    const auto capsule = context->saved_data["pass"].toCapsule();
    const Pass& pass = static_cast<const Pass&>(*capsule);
    const ModuleInfo& module = *pass.layer.module;
    // LibTorch records what is done here if somebody wants to differentiate it again.
    TORCH_CHECK(!at::GradMode::is_enabled(), module.name, " has no second derivative; leave out create_graph.");
    TORCH_CHECK(
        pass.training || module.training_form.empty(), module.name,
        " trains in another form than it is evaluated in, and only that one has a gradient; call train() first.");
    const auto saved = context->get_saved_variables();
    const Tensor dy = gradients[0].contiguous();
    Tensor dp = ::torch::empty_like(saved[0]), dx = ::torch::empty_like(saved[1]);
    AT_DISPATCH_FLOATING_TYPES(dy.scalar_type(), "nalm", [&] {
      layer_backward(pass.layer, batch<scalar_t>(saved[0], saved[1], pass), dy.data_ptr<scalar_t>(),
                     dx.data_ptr<scalar_t>(), dp.data_ptr<scalar_t>());
    });
    return {dp, dx, Tensor()};
  }
};

}  // namespace torch_layer

// A module of the registry by its name, with options as in "redundancy=2".
class TorchLayerImpl : public ::torch::nn::Module {
 public:
  using Tensor = ::torch::Tensor;

  TorchLayerImpl(const std::string& module, int inputs, int outputs, const std::string& options = "") {
    const std::string brackets = options.empty() ? "" : "(" + options + ")";
    const Stack stack = torch_layer::take(parse_stack(module + ":" + std::to_string(outputs) + brackets, inputs));
    torch_layer::take(check_stack(stack));
    layer_ = stack.at(0);
    recipe_ = layer_.module->recipe();
    for (const ParameterInfo& p : layer_.module->parameters) {
      if (!is_present(p, layer_.shape)) continue;
      const std::vector<int> sizes = dimensions(*layer_.module, p, layer_.shape);
      register_parameter(std::string(p.name), ::torch::empty(std::vector<std::int64_t>(sizes.begin(), sizes.end())));
    }
    reset_parameters();
  }

  // The module's own start values; LibTorch's generator chooses them.
  void reset_parameters() {
    const auto seed =
        ::torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, ::torch::kLong).item<std::int64_t>();
    set(start_values(layer_, static_cast<std::uint64_t>(seed)));
  }

  Tensor forward(const Tensor& x) {
    const std::vector<Tensor> own = parameters();
    const std::string_view name = layer_.module->name;
    TORCH_CHECK(x.device().is_cpu() && own[0].device().is_cpu(), name,
                ": layers run on the cpu; move both with .to().");
    TORCH_CHECK(x.scalar_type() == own[0].scalar_type(), name, ": the input is ", x.scalar_type(), " and the layer ",
                own[0].scalar_type(), "; convert one of them with .to().");
    TORCH_CHECK(x.scalar_type() == ::torch::kFloat32 || x.scalar_type() == ::torch::kFloat64, name,
                ": a layer is float32 or float64, not ", x.scalar_type(), ".");
    TORCH_CHECK(x.dim() > 0 && x.size(-1) == layer_.shape.inputs, name, ": the last dimension of the input must be ",
                layer_.shape.inputs, ", and its shape is ", x.sizes(), ".");
    const Tensor rows = x.reshape({-1, layer_.shape.inputs}).contiguous();
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = layer_.shape.outputs;
    const auto pass = c10::make_intrusive<torch_layer::Pass>(layer_, is_training(), noise_for(rows));
    return torch_layer::Function::apply(flat(own), rows, pass).reshape(shape);
  }

  // What the module's recipe adds to the loss at an iteration; at its full strength if none is given.
  Tensor regularisation(long iteration = 1'000'000'000) const {
    Tensor total = ::torch::zeros({}, parameters()[0].options());
    for (const Regulariser& r : recipe_.layers[0].regularisers)
      for (const auto& p : named_parameters())
        if (r.parameter.empty() || r.parameter == p.key())
          total = total + r.coefficient(iteration) * penalty(r.kind, p.value());
    return total;
  }

  // Keeps the parameters in the module's bounds: after every step of the optimiser.
  void clamp_() {
    const ::torch::NoGradGuard guard;
    auto own = named_parameters();
    for (const ParameterInfo& p : layer_.module->parameters)
      if (Tensor* values = own.find(std::string(p.name)); values && p.clamp) values->clamp_(p.clamp->lo, p.clamp->hi);
  }

  // Random factors for a module that trains with some (sNMU), unless this is false.
  bool noise = true;

  const LayerSpec& spec() const { return layer_; }
  Model to_model() const {
    const Tensor values = flat(parameters()).to(::torch::kFloat64);
    const double* first = values.data_ptr<double>();
    Model model;
    model.layers.push_back({layer_.module, layer_.shape, {first, first + values.numel()}});
    return model;
  }
  // Takes the numbers of a layer of a model.
  void from_model(const Model& model, std::size_t layer = 0) {
    TORCH_CHECK(layer < model.layers.size() && model.layers[layer].module == layer_.module &&
                    model.layers[layer].parameters.size() == to_model().layers[0].parameters.size(),
                layer_.module->name, ": layer ", layer, " of the model is another one.");
    set(model.layers[layer].parameters);
  }
  double sparsity_error() const { return torch_layer::take(nalm::sparsity_error(to_model())); }
  // What the weights spell, one formula per output.
  std::vector<std::string> formula(const std::vector<std::string>& names = {}) const {
    const Model model = to_model();
    std::vector<std::string> texts;
    for (const Expression& e :
         torch_layer::take(ideal_formula(model, names.empty() ? model.column_names() : names)).outputs)
      texts.push_back(print(e));
    return texts;
  }
  void pretty_print(std::ostream& stream) const override {
    stream << layer_.module->name << '(' << layer_.shape.inputs << ", " << layer_.shape.outputs << ')';
  }

 private:
  static Tensor flat(const std::vector<Tensor>& own) {
    if (own.size() == 1) return own[0].reshape(-1);
    std::vector<Tensor> parts;
    for (const Tensor& p : own) parts.push_back(p.reshape(-1));
    return ::torch::cat(parts);
  }
  void set(const std::vector<double>& values) {
    const ::torch::NoGradGuard guard;
    const Tensor all = ::torch::tensor(values, ::torch::kFloat64);
    std::int64_t first = 0;
    for (Tensor& p : parameters()) {
      p.copy_(all.narrow(0, first, p.numel()).reshape(p.sizes()));
      first += p.numel();
    }
  }
  Tensor noise_for(const Tensor& rows) const {
    const auto& habit = recipe_.training.noise;
    if (!(layer_.module->takes_noise && is_training() && noise && habit)) return {};
    const double hi = habit->batch_adaptive ? habit->lo + 1 / rows.detach().std(false).item<double>() : habit->hi;
    return ::torch::empty_like(rows.detach()).uniform_(habit->lo, hi);
  }
  static Tensor penalty(Regulariser::Kind kind, const Tensor& w) {
    switch (kind) {
      case Regulariser::Kind::Sparsity:
        return ::torch::minimum(w.abs(), (1 - w.abs()).abs()).mean();
      case Regulariser::Kind::Saturate:
        return (20 - w.abs()).clamp_min(0).mean();
      case Regulariser::Kind::L1:
        return w.abs().sum();
      case Regulariser::Kind::Unit:
        return (1 - w.abs()).abs().mean();
      case Regulariser::Kind::Grow:
        return -(w * w).mean();
    }
    return {};
  }

  LayerSpec layer_;
  Recipe recipe_;
};
TORCH_MODULE(TorchLayer);

}  // namespace nalm
