// Names on the command line of the single module task: ranges, operations, modules.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/result.hpp"
#include "tasks/single_module/data.hpp"

namespace nalm {

struct Pair {
  const ModuleInfo* module = nullptr;
  Operation operation = Operation::Add;

  bool operator==(const Pair&) const = default;
};

std::string name_of(const Range& range);  // "U[1,2)"; two parts: "U[-6,-2)+[2,6)"

// "[1,2)", "U[1,2)", "[-6,-2)+[2,6)".
Result<Range> parse_range(std::string_view text);
// Numbers of the paper's list or ranges, separated by commas: "0,6,[-2,2)". A range that the paper does not have needs
// a test range: one for all, or one for each, in order.
Result<std::vector<TaskRange>> parse_ranges(std::string_view text, std::string_view test_ranges);
// "add,div".
Result<std::vector<Operation>> parse_operations(std::string_view text);
Result<Operation> parse_operation(std::string_view text);
// "NAU,NMU"
Result<std::vector<const ModuleInfo*>> parse_modules(std::string_view text);

// The pairs that can be learned. An error if there is none; left_out says which were asked for but cannot.
Result<std::vector<Pair>> make_pairs(std::span<const ModuleInfo* const> modules, std::span<const Operation> operations,
                                     std::vector<std::string>& left_out);

}  // namespace nalm
