#include "base/json.hpp"

#include <fmt/format.h>

#include <cmath>

namespace nalm {
namespace {

// Reading, copying and destroying a value recurse: a file of brackets would overflow the stack.
constexpr int deepest = 64;

bool nests_too_deeply(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (quoted) {
      if (c == '\\') ++k;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what) {
  if (nests_too_deeply(text))
    return Error{fmt::format("the {} has brackets nested more than {} deep, which nothing here needs.", what, deepest)};
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    return Error{e.byte > text.size() ? fmt::format("the {} ends in the middle; it seems to be truncated.", what)
                                      : fmt::format("this is not valid JSON near byte {}.", e.byte)};
  } catch (const Json::exception&) {
    return Error{"this is not valid JSON: a number in it is out of range."};
  }
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace nalm
