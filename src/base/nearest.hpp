// What somebody probably meant who mistyped a name.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace nalm {

// How many letters must be changed, added, left out or swapped with their neighbour to make one word of the other;
// upper and lower case are the same.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + !same});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

// " Did you mean NAU?", or nothing if no name is near: a third of its letters may be wrong, and one of three.
template <class Names>
std::string did_you_mean(std::string_view word, const Names& names) {
  std::string_view nearest;
  std::size_t least = word.size() / 3 + 1;
  if (word.empty() || word.size() > 40) return "";
  for (const std::string_view name : names) {
    if (word.size() > 1 && name.starts_with(word)) return " Did you mean " + std::string(name) + "?";
    const std::size_t distance = edit_distance(word, name);
    if (distance >= std::max(word.size(), name.size())) continue;  // not a letter is right
    if (distance < least || (nearest.empty() && distance == least)) nearest = name, least = distance;
  }
  return nearest.empty() ? "" : " Did you mean " + std::string(nearest) + "?";
}

}  // namespace nalm
