// Small work on text that people wrote: lists, and names in upper or lower case.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/number.hpp"

namespace nalm {

// The text with one part of it replaced wherever it stands.
inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

// Without spaces and tabs at both ends.
inline std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// The number that the whole text is.
template <class T>
std::optional<T> number_in(std::string_view text) {
  if constexpr (std::is_floating_point_v<T>) {
    return number_of(text);
  } else {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
}

// The parts between separators, trimmed. Empty ones are kept: a text without a separator is one part, be it empty.
inline std::vector<std::string_view> split(std::string_view text, char separator = ',') {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.push_back(trim(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  parts.push_back(trim(text));
  return parts;
}

// The same, but not at commas inside of brackets: "U[1,2)" and "NSR:1(a=1,b=2)" have commas of their own.
inline std::vector<std::string_view> split_outside_brackets(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t first = 0;
  int depth = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '[' || text[k] == '(') ++depth;
    if (text[k] == ']' || text[k] == ')') depth = std::max(depth - 1, 0);
    if (text[k] != ',' || depth > 0) continue;
    parts.push_back(trim(text.substr(first, k - first)));
    first = k + 1;
  }
  parts.push_back(trim(text.substr(first)));
  return parts;
}

// Upper and lower case are the same. ASCII only, whatever the locale of the host program is.
inline bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace nalm
