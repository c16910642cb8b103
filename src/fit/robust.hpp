// Rows that are far off: found, and left out.
#pragma once

#include <functional>

#include "fit/data.hpp"

namespace nalm::fitting {

// Rows in order whose error is far larger than that of most, by the formula that is closest to most rows. Nothing if
// that would be more than a fifth of the rows.
std::vector<std::size_t> far_rows(const std::vector<Candidate>& candidates, const Data& data);

// Fits, leaves out what is far off, and fits again until nothing changes. Leaves in `data` the rows that the fit is of.
Result<Fit> fit_without_outliers(Data& data, const std::function<Result<Fit>(const Data&)>& run);

}  // namespace nalm::fitting
