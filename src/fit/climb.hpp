// Small changes to a formula, kept where they make its description shorter.
#pragma once

#include <functional>
#include <optional>

#include "fit/description.hpp"
#include "fit/refine.hpp"

namespace nalm::fitting {

// What a formula is judged by.
struct Judge {
  const Data& data;
  const Rows& rows;
  Powers powers;
  const std::vector<std::string>& use;  // columns that must appear

  // In its normal form and with its numbers refitted. Nothing: not a formula, or not an allowed one.
  std::optional<Scored> measure(Form form, int steps = 12) const;
};

// Leaves out terms that are not worth their description.
void prune(const Judge& judge, Scored& scored);

// Goes on with the best of all small changes until none helps.
void climb(const Judge& judge, Scored& scored, int threads, const std::function<bool()>& stop);

// The most promising of all small changes.
std::vector<Scored> neighbours_of(const Judge& judge, const Form& form, int threads, const std::function<bool()>& stop);

}  // namespace nalm::fitting
