// A form as layers.
#pragma once

#include <string>
#include <vector>

#include "fit/form.hpp"
#include "nalm/model.hpp"

namespace nalm::fitting {

void add_layer(Model& model, const char* module, std::size_t inputs, std::size_t outputs,
               std::vector<double> parameters);

// NRU-power, Linear, NRU-power, Linear, as far as the form needs them.
Model to_model(const Form& form, const std::vector<std::string>& columns);

}  // namespace nalm::fitting
