// A product with a simple number that explains nearly everything, as q*V*d/y^2, hides the small term beside it. What it
// leaves is a table of its own.
#pragma once

#include <optional>
#include <vector>

#include "fit/data.hpp"
#include "fit/search.hpp"

namespace nalm::fitting {

struct LeadingProduct {
  Product product;
  Data rest;  // the target without it
};

// The best product among these, if it explains nearly all.
std::optional<LeadingProduct> leading_product_of(const Data& data, const std::vector<Found>& found);

bool explains_nearly_all(const Found& found, const Data& data);

}  // namespace nalm::fitting
