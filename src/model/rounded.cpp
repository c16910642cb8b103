// A trained model with its parameters where its formula has them.
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "nalm/model.hpp"

namespace nalm {

namespace {

// Where exp overflows, also that in base phi (G-NAC), so that squashed numbers are exactly 0 and 1.
constexpr double far_out = 2000;
constexpr double near = 1e-3;  // as in Readout::snap

// One tensor of a layer. Entry [i] of a softmax over an axis is one of those that differ in that axis only.
void round_tensor(const ModuleInfo& module, const ParameterInfo& info, const LayerShape& shape, std::span<double> p) {
  const auto to_nearest = [&](double lo, double hi) {
    for (double& value : p) {
      const double whole = std::round(value) + 0.0;  // no -0
      if (std::fabs(value - whole) < near && whole >= lo && whole <= hi) value = whole;
    }
  };
  const auto largest_of = [&](std::size_t count, std::size_t stride) {
    for (std::size_t k = 0; k < p.size(); ++k) {
      if (k / stride % count != 0) continue;
      std::size_t largest = 0;
      for (std::size_t i = 1; i < count; ++i)
        if (p[k + i * stride] > p[k + largest * stride]) largest = i;
      for (std::size_t i = 0; i < count; ++i) p[k + i * stride] = i == largest ? far_out : 0.0;
    }
  };
  switch (info.end) {
    case End::FarOut:
      if (info.clamp) {
        to_nearest(info.clamp->lo, info.clamp->hi);
      } else {
        for (double& value : p) value = value < 0 ? -far_out : far_out;
      }
      break;
    case End::FarOutOrZero:
      // What is nearer to 0 than to 1 under the tanh; atanh(1/2) = 0.549.
      for (double& value : p) value = std::fabs(value) < 0.549 ? 0.0 : std::copysign(far_out, value);
      break;
    case End::Whole:
      to_nearest(-HUGE_VAL, HUGE_VAL);
      break;
    case End::Bit:
      to_nearest(0, 1);
      break;
    case End::Zero:
      to_nearest(0, 0);
      break;
    case End::OneInput: {
      std::size_t behind = 1;  // axes behind that of the inputs
      for (int a = info.axes.count; a-- > 0 && info.axes.axis[static_cast<std::size_t>(a)] != Axis::Input;) {
        behind *= static_cast<std::size_t>(
            axis_size(info.axes.axis[static_cast<std::size_t>(a)], shape.inputs, shape.outputs, paths(module, shape)));
      }
      largest_of(static_cast<std::size_t>(shape.inputs), behind);
      break;
    }
    case End::OneOutput:
      largest_of(static_cast<std::size_t>(shape.outputs), 1);
      break;
    case End::Anywhere:
      break;
  }
}

Result<std::vector<std::string>> spelled(const Layer& layer) {
  Model model;
  model.layers = {layer};
  const Result<Formula> formula = ideal_formula(model, {});
  if (!formula) return formula.error();
  if (!formula->discrete)
    return Error{formula->notes.empty() ? "its weights are not discrete" : formula->notes.front()};
  std::vector<std::string> texts;
  for (const Expression& output : formula->outputs) texts.push_back(print(output));
  return texts;
}

// The layer with all tensors rounded but one; -1: all of them.
Layer rounded_but(const Layer& layer, int left_out) {
  Layer result = layer;
  std::size_t first = 0;
  for (std::size_t k = 0; k < layer.module->parameters.size(); ++k) {
    const ParameterInfo& info = layer.module->parameters[k];
    if (!is_present(info, layer.shape)) continue;
    const std::size_t size = static_cast<std::size_t>(size_of(*layer.module, info.axes, layer.shape));
    if (static_cast<int>(k) != left_out)
      round_tensor(*layer.module, info, layer.shape, std::span(result.parameters).subspan(first, size));
    first += size;
  }
  return result;
}

}  // namespace

// Layer by layer: the formula of a deep stack could be too long to be made.
Result<Model> rounded(const Model& model) {
  if (Status whole = check_model(model); !whole) return whole.error();
  Model result = model;
  for (std::size_t k = 0; k < result.layers.size(); ++k) {
    Layer& layer = result.layers[k];
    const auto refuse = [&](std::string_view why) {
      return Error{fmt::format("layer {} ({}) cannot be rounded: {}.", k + 1, layer.module->name, why)};
    };
    const Result<std::vector<std::string>> wanted = spelled(layer);
    if (!wanted) return refuse(wanted.error().message);
    // A gate that depends on the input stands in the formula with its numbers, and keeps them.
    std::optional<Layer> found;
    for (int left_out = -1; !found && left_out < static_cast<int>(layer.module->parameters.size()); ++left_out) {
      Layer tried = rounded_but(layer, left_out);
      const Result<std::vector<std::string>> text = spelled(tried);
      if (text && *text == *wanted) found = std::move(tried);
    }
    if (!found) return refuse("its parameters are too far from where they should end");
    layer = std::move(*found);
  }
  return result;
}

}  // namespace nalm
