// The small changes of a formula that a climb tries: a power one up or down, another column, a term less or one more,
// another outer power, a root of squares in the place of a sum, a mean in the place of a root.
#pragma once

#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"

namespace nalm::fitting {

// Of more than one product, and of sums.
std::vector<Form> with_a_term_less(const Form& form);

// Those of them whose number is small beside its standard error. Of many terms the others cost a refit each, and would
// raise the error more.
std::vector<Form> without_a_doubtful_term(Scored& scored);

// All of them. The numbers are near enough to begin a refit with.
std::vector<Form> small_changes(const Form& form, const Data& data, Powers powers);

}  // namespace nalm::fitting
