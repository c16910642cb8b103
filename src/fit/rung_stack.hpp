// The stack of a rung: its layers, its numbers, and the form that they spell.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fit/form.hpp"
#include "fit/ladder.hpp"
#include "nalm/model.hpp"

namespace nalm::fitting {

Stack stack_of(const Rung& rung, std::size_t columns);

// Parameters of a stack in the order of its layers, for columns and a target that are scaled to about 1.
struct Run {
  std::vector<double> parameters;
  std::vector<std::uint8_t> is_power;
  std::vector<std::uint8_t> free;

  void add(double value, bool power, bool is_free);
  std::vector<std::uint8_t> free_numbers() const;  // without the powers
};

// With rounded powers, and numbers in the units of the data.
std::optional<Form> form_of(const Rung& rung, const std::vector<double>& parameters, const Data& data, Powers allowed);

}  // namespace nalm::fitting
