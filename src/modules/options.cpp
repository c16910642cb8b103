#include "modules/options.hpp"
#include <fmt/format.h>

#include "base/number.hpp"

namespace nalm {

Status set_option(const ModuleInfo& module, std::string_view name, std::string_view value, LayerShape& shape) {
  std::string known;
  for (std::size_t k = 0; k < module.options.size(); ++k) {
    const OptionInfo& option = module.options[k];
    known += (known.empty() ? "" : ", ") + std::string(option.name);
    if (option.name != name) continue;
    if (option.choices[0].empty()) {
      const std::optional<double> number = number_of(value);
      if (!number) {
        return Error{fmt::format("{}: option \"{}\" must be a number, not \"{}\".", module.name, name, value)};
      }
      shape.options[k] = *number;
      return Done{};
    }
    std::string choices;
    for (std::size_t c = 0; c < option.choices.size() && !option.choices[c].empty(); ++c) {
      if (option.choices[c] == value) {
        shape.options[k] = static_cast<double>(c);
        return Done{};
      }
      choices += (choices.empty() ? "" : ", ") + std::string(option.choices[c]);
    }
    return Error{fmt::format("{}: option \"{}\" cannot be \"{}\"; it can be {}.", module.name, name, value, choices)};
  }
  if (known.empty()) return Error{fmt::format("{} has no options; remove \"{}\".", module.name, name)};
  return Error{fmt::format("{} has no option \"{}\"; its options are {}.", module.name, name, known)};
}

std::string option_text(const OptionInfo& option, double value) {
  if (option.choices[0].empty()) return fmt::format("{}", value);
  return std::string(option.choices[static_cast<std::size_t>(value)]);
}

}  // namespace nalm
