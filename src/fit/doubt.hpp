// Doubts about a formula: functions that could be added to it. The rows tell how much of each they ask for, and how
// certain that is. If they clearly ask for one, the errors have a pattern. If they leave open whether it is there, and
// it would change the values outside of the data, nothing can be said about the outside.
#pragma once

#include <string>

#include "fit/tangent.hpp"

namespace nalm::fitting {

struct Doubts {
  double chance = 1;   // that noise asks for any of the functions as clearly as the rows do
  std::string along;   // the columns of that function
  double outside = 0;  // how uncertain the values are on the wider box, as a share of their deviation there
  std::string open;    // the columns of the function that makes them so
  double finite = 1;   // share of the points where the formula has a value
};

// deviation: of an error, at least; rounding alone gives that.
Doubts doubts_about(const Candidate& candidate, const Data& data, const Places& places, const Tangent& tangent,
                    double rounding);

// How much another formula differs on the wider box, as a share of the deviation.
double difference_outside(const Tangent& tangent, const numeric::Vector& other, const Places& places, const Data& data);

}  // namespace nalm::fitting
