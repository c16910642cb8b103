#include "nalm/module.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "modules/registry.hpp"

namespace nalm {

std::string_view name_of(Operation operation) {
  constexpr std::string_view names[] = {"add", "sub", "mul", "div"};
  return names[static_cast<std::size_t>(operation)];
}

namespace {

// The value of an array of a table at these indices.
template <class Table>
double value_at(const ModuleInfo& module, const Table& table, const LayerShape& shape, std::span<const double> values,
                std::string_view name, std::array<int, 3> index, std::string& problem) {
  std::size_t first = 0;
  for (const auto& entry : table) {
    if constexpr (requires { entry.condition; }) {
      if (!is_present(entry, shape)) continue;
    }
    if (entry.name == name) {
      int k = 0;
      bool inside = true;
      for (std::size_t a = 0; a < static_cast<std::size_t>(entry.axes.count); ++a) {
        const int size = axis_size(entry.axes.axis[a], shape.inputs, shape.outputs, paths(module, shape));
        inside = inside && index[a] >= 0 && index[a] < size;
        k = k * size + index[a];
      }
      if (inside) return values[first + static_cast<std::size_t>(k)];
      problem = fmt::format("{}: its readout asks for an entry outside of the array \"{}\".", module.name, name);
      return std::nan("");
    }
    first += static_cast<std::size_t>(size_of(module, entry.axes, shape));
  }
  problem = fmt::format("{}: its readout asks for an array \"{}\", which is not in its tables.", module.name, name);
  return std::nan("");
}

}  // namespace

double Readout::parameter(std::string_view name, int i, int j, int k) {
  return value_at(module_, module_.parameters, shape_, parameters_, name, {i, j, k}, problem);
}

double Readout::weight(std::string_view name, int i, int j, int k) {
  return value_at(module_, module_.weights, shape_, weights_, name, {i, j, k}, problem);
}

double Readout::snapped(std::string_view name, int i, int j, int k) {
  const auto named = [&](const Quantity& quantity) { return quantity.name == name; };
  const double value = weight(name, i, j, k);
  const auto found = std::ranges::find_if(module_.weights, named);
  return found == module_.weights.end() ? value : snap(value, found->discrete, name);
}

double Readout::snap(double value, const Discrete& to, std::string_view what) {
  if (to.whole && std::fabs(value - std::round(value)) < 1e-3) return std::round(value) + 0.0;
  for (const double d : to.values)
    if (std::fabs(value - d) < 1e-3) return d;
  discrete = false;
  const std::string note = fmt::format("{} = {:.6g} is not a discrete value", what, value);
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  return value;
}

Expression modules::product_of_powers(const std::vector<Power>& powers) {
  Expression above = 1.0, below = 1.0;
  for (const Power& p : powers) {
    if (p.exponent > 0) above *= pow(p.base, p.exponent);
    if (p.exponent < 0) below *= pow(p.base, -p.exponent);
    if (std::isnan(p.exponent)) above *= p.exponent;
  }
  return above / below;
}

int paths(const ModuleInfo& module, const LayerShape& shape) {
  return module.path_option < 0 ? 0 : static_cast<int>(shape.options[static_cast<std::size_t>(module.path_option)]);
}

int size_of(const ModuleInfo& module, const Axes& axes, const LayerShape& shape) {
  return size_of(axes, shape.inputs, shape.outputs, paths(module, shape));
}

bool is_present(const ParameterInfo& parameter, const LayerShape& shape) {
  const modules::Condition& c = parameter.condition;
  return c.option < 0 || shape.options[static_cast<std::size_t>(c.option)] == c.value;
}

int parameter_count(const ModuleInfo& module, const LayerShape& shape) {
  int count = 0;
  for (const ParameterInfo& p : module.parameters) count += is_present(p, shape) ? size_of(module, p.axes, shape) : 0;
  return count;
}

int quantity_count(const ModuleInfo& module, std::span<const Quantity> quantities, const LayerShape& shape) {
  int count = 0;
  for (const Quantity& q : quantities) count += size_of(module, q.axes, shape);
  return count;
}

std::vector<int> dimensions(const ModuleInfo& module, const ParameterInfo& parameter, const LayerShape& shape) {
  std::vector<int> result;
  for (int k = 0; k < parameter.axes.count; ++k) {
    const Axis axis = parameter.axes.axis[static_cast<std::size_t>(k)];
    const int size = axis_size(axis, shape.inputs, shape.outputs, paths(module, shape));
    if (axis == Axis::Comparison && size == 1) continue;
    result.push_back(size);
  }
  return result;
}

std::vector<const ModuleInfo*> all_modules() {
  std::vector<const ModuleInfo*> result;
  for (const ModuleEntry* entry : module_entries()) result.push_back(entry->info);
  return result;
}

const ModuleEntry* find_entry(const ModuleInfo* module) {
  for (const ModuleEntry* entry : module_entries()) {
    if (entry->info == module) return entry;
  }
  return nullptr;
}

Result<const ModuleInfo*> find_module(std::string_view name) {
  std::string known;
  std::vector<std::string_view> names;
  for (const ModuleInfo* module : all_modules()) {
    names.push_back(module->name);
    if (same_name(name, module->name) || (!module->other_name.empty() && same_name(name, module->other_name))) {
      return module;
    }
    known += (known.empty() ? "" : ", ") + std::string(module->name);
  }
  // The name may come from a damaged file: keep the message one short line.
  std::string shown(name.substr(0, 40));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 32 || c == 127; }, ' ');
  return Error{fmt::format("\"{}\" is not a module; the modules are {}.{}", shown, known, did_you_mean(shown, names))};
}

LayerShape default_shape(const ModuleInfo& module, int inputs, int outputs) {
  LayerShape shape{inputs, outputs, {}};
  for (std::size_t k = 0; k < module.options.size(); ++k) shape.options[k] = module.options[k].standard;
  return shape;
}

Status check_shape(const ModuleInfo& module, const LayerShape& shape) {
  if (!find_entry(&module)) {
    return Error{
        fmt::format("\"{}\" is not one of this program's modules; nalm_add_modules() in CMake adds one's own, and "
                    "find_module() finds them by name.",
                    module.name)};
  }
  constexpr int most = 1 << 20;
  if (shape.inputs < 1 || shape.inputs > most) {
    return Error{
        fmt::format("{}: a layer needs at least 1 input and at most {}, not {}.", module.name, most, shape.inputs)};
  }
  if (shape.outputs < 1 || shape.outputs > most) {
    return Error{
        fmt::format("{}: a layer needs at least 1 output and at most {}, not {}.", module.name, most, shape.outputs)};
  }
  if (shape.outputs % module.outputs_multiple_of != 0) {
    return Error{fmt::format("{}: the number of outputs must be a multiple of {}, not {}.", module.name,
                             module.outputs_multiple_of, shape.outputs)};
  }
  for (std::size_t k = 0; k < module.options.size(); ++k) {
    const OptionInfo& option = module.options[k];
    const double value = shape.options[k];
    if (!option.choices[0].empty()) {
      const bool known = value >= 0 && value < static_cast<double>(option.choices.size()) &&
                         value == std::floor(value) && !option.choices[static_cast<std::size_t>(value)].empty();
      if (known) continue;
      return Error{fmt::format("{}: option \"{}\" has no choice number {}.", module.name, option.name, value)};
    }
    if (!std::isfinite(value) || value < option.lowest || value > 1e6 || (option.whole && value != std::floor(value))) {
      return Error{fmt::format("{}: option \"{}\" must be a {}number from {} to 1e6, not {}.", module.name, option.name,
                               option.whole ? "whole " : "", option.lowest, value)};
    }
  }
  // Counts are held in int; a layer this large would not fit in memory anyway.
  const double values = static_cast<double>(shape.inputs) * shape.outputs * std::max(1, paths(module, shape));
  if (values > 1e8) {
    return Error{fmt::format("{}: {} inputs by {} outputs is more than 1e8 weights; make the layer smaller.",
                             module.name, shape.inputs, shape.outputs)};
  }
  return Done{};
}

}  // namespace nalm
