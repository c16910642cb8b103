// A form as layers.
#pragma once

#include <string>
#include <vector>

#include "fit/form.hpp"
#include "nalm/model.hpp"

namespace nalm::fitting {

void add_layer(Model& model, const char* module, std::size_t inputs, std::size_t outputs,
               std::vector<double> parameters);

// NRU-power, Linear, NRU-power, Linear, as far as the form needs them; with atoms NRU-power, Linear and Functions
// before these, and Functions behind them if a function stands around the whole.
Model to_model(const Form& form, const std::vector<std::string>& columns);

}  // namespace nalm::fitting
