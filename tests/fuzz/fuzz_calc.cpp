// Any bytes: the calculator's parser never crashes; a mistake stands inside the text and has a sentence; postfix order
// has an operand for every operator and leaves one value.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tasks/calculator.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using nalm::CalcToken;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = nalm::parse_calculation(text);
  if (const auto* mistake = std::get_if<nalm::CalcMistake>(&result)) {
    require(mistake->position <= size && !mistake->sentence.empty());
    return 0;
  }
  int values = 0;
  for (const CalcToken& token : std::get<std::vector<CalcToken>>(result)) {
    require(token.position < size);
    switch (token.kind) {
      case CalcToken::Kind::Number:
        ++values;
        break;
      case CalcToken::Kind::Negate:
      case CalcToken::Kind::Root:
        require(values >= 1);
        break;
      default:
        require(values >= 2);
        --values;
    }
  }
  require(values == 1);
  return 0;
}
