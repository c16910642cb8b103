#include "nalm/stack.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"
#include "modules/options.hpp"

namespace nalm {

namespace {

Status parse_options(std::string_view text, LayerSpec& spec) {
  for (std::string_view part : split_outside_brackets(text)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return Error{fmt::format("option \"{}\" of {} needs a value, as in name=value.", part, spec.module->name)};
    }
    Status set = set_option(*spec.module, trim(part.substr(0, equals)), trim(part.substr(equals + 1)), spec.shape);
    if (!set) return set;
  }
  return Done{};
}

}  // namespace

Result<Stack> parse_stack(std::string_view text, int inputs) {
  Stack stack;
  for (std::string_view part : split_outside_brackets(text)) {
    std::string_view options;
    if (const std::size_t open = part.find('('); open != std::string_view::npos) {
      if (part.back() != ')') return Error{fmt::format("layer \"{}\": the bracket is not closed.", part)};
      options = part.substr(open + 1, part.size() - open - 2);
      part = part.substr(0, open);
    }
    const std::size_t colon = part.rfind(':');
    int outputs = 0;
    if (colon != std::string_view::npos) {
      const std::string_view digits = part.substr(colon + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), outputs);
      if (error != std::errc() || end != digits.data() + digits.size()) outputs = 0;
    }
    if (outputs < 1) {
      return Error{
          fmt::format("layer \"{}\" should be a module, a colon and the number of outputs, such as NAU:2.", part)};
    }
    const Result<const ModuleInfo*> module = find_module(part.substr(0, colon));
    if (!module) return module.error();
    LayerSpec spec{*module, default_shape(**module, stack.empty() ? inputs : stack.back().shape.outputs, outputs)};
    if (!options.empty()) {
      if (Status set = parse_options(options, spec); !set) return set.error();
    }
    stack.push_back(spec);
  }
  if (Status fits = check_stack(stack); !fits) return fits.error();
  return stack;
}

std::string print(const Stack& stack) {
  std::string text;
  for (const LayerSpec& spec : stack) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", spec.module->name, spec.shape.outputs);
    std::string options;
    for (std::size_t k = 0; k < spec.module->options.size(); ++k) {
      const OptionInfo& option = spec.module->options[k];
      if (spec.shape.options[k] == option.standard) continue;
      options +=
          fmt::format("{}{}={}", options.empty() ? "" : ",", option.name, option_text(option, spec.shape.options[k]));
    }
    if (!options.empty()) text += "(" + options + ")";
  }
  return text;
}

Status check_stack(const Stack& stack) {
  if (stack.empty()) return Error{"a network needs at least one layer."};
  for (std::size_t k = 0; k < stack.size(); ++k) {
    if (!stack[k].module) return Error{fmt::format("layer {} has no module; find_module() finds one by name.", k + 1)};
    if (Status shape = check_shape(*stack[k].module, stack[k].shape); !shape) {
      return Error{fmt::format("layer {}: {}", k + 1, shape.error().message)};
    }
    if (k > 0 && stack[k].shape.inputs != stack[k - 1].shape.outputs) {
      return Error{fmt::format("layer {} has {} inputs, but layer {} gives {} outputs.", k + 1, stack[k].shape.inputs,
                               k, stack[k - 1].shape.outputs)};
    }
  }
  return Done{};
}

Status check_model(const Model& model) {
  if (Status fits = check_stack(model.stack()); !fits) return fits;
  return check_layers(model.layers);
}

Status check_layers(const std::vector<Layer>& layers) {
  if (layers.empty()) return check_stack({});
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const Layer& layer = layers[k];
    if (Status fits = check_stack({{layer.module, layer.shape}}); !fits) return fits;
    const std::size_t needed = static_cast<std::size_t>(parameter_count(*layer.module, layer.shape));
    if (layer.parameters.size() != needed) {
      return Error{fmt::format("layer {}: {} needs {} parameters, not {}.", k + 1, layer.module->name, needed,
                               layer.parameters.size())};
    }
  }
  return Done{};
}

Stack Model::stack() const {
  Stack result;
  for (const Layer& layer : layers) result.push_back({layer.module, layer.shape});
  return result;
}

std::vector<std::string> Model::column_names() const {
  if (!columns.empty()) return columns;
  std::vector<std::string> names;
  for (int i = 0; i < inputs(); ++i) names.push_back("x" + std::to_string(i + 1));
  return names;
}

}  // namespace nalm
