// The figures of a benchmark for print, without a browser: rates and times by setting, maps of many models, learning
// curves of several models, errors over the size of numbers.
#pragma once

#include <string>
#include <vector>

#include "experiment/summary.hpp"
#include "report/picture.hpp"

namespace nalm {

struct NamedPicture {
  std::string name;  // of a file, without its ending
  Picture picture;
};
Result<std::vector<NamedPicture>> result_figures(const Store& store, const Judgement& judgement, double width);

}  // namespace nalm
