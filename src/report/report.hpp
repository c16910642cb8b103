// The benchmark's report as an HTML page.
#pragma once

#include <string>

#include "report/results.hpp"

namespace nalm {

Result<std::string> report_page(const RunStore& store, const Judgement& judgement);

}  // namespace nalm
