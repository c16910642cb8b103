// The characters of UTF-8 text.
#pragma once

#include <cstddef>
#include <string_view>

namespace nalm {

// The bytes of the character that begins at k, or 0 if none does.
inline std::size_t utf8_length(std::string_view text, std::size_t k) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const auto continues = [&](std::size_t i) { return within(i, 0x80, 0xBF); };
  const unsigned lead = byte(k);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return continues(k + 1) ? 2 : 0;
  // Forms that are longer than necessary, halves of UTF-16 pairs, and what is beyond Unicode are no characters.
  if (lead >= 0xE0 && lead < 0xF0) {
    return within(k + 1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && continues(k + 2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    const bool second = within(k + 1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
    return second && continues(k + 2) && continues(k + 3) ? 4 : 0;
  }
  return 0;
}

// Its number in Unicode. The text must be such a character and nothing else.
inline char32_t utf8_value(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  char32_t value = character.size() == 1 ? lead : lead & (0x7FU >> character.size());
  for (const char c : character.substr(1)) value = value << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return value;
}

// How many characters it has; what is none counts as one for each byte.
inline std::size_t utf8_count(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < text.size(); ++count) k += utf8_length(text, k) ? utf8_length(text, k) : 1;
  return count;
}

inline bool is_utf8(std::string_view text) {
  for (std::size_t k = 0; k < text.size();) {
    const std::size_t length = utf8_length(text, k);
    if (length == 0) return false;
    k += length;
  }
  return true;
}

}  // namespace nalm
