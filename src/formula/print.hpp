// What print() and the exports share.
#pragma once

#include <string>

namespace nalm::formula {

// The name of a variable as parse_expression() reads it: in double quotes, unless it is a plain identifier.
std::string print_name(const std::string& name);

}  // namespace nalm::formula
