// Reads back what a page carries.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nalm {

// What the page's script reads: the text of the element with the data, up to the first end of a script.
inline std::string data_text(const std::string& page) {
  const std::string start = "id=\"nalm-data\">";
  const std::size_t first = page.find(start) + start.size();
  return page.substr(first, page.find("</script", first) - first);
}

inline std::vector<std::int16_t> numbers_of(const std::string& base64) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (const char c : base64) {
    if (c == '=') break;
    EXPECT_NE(digits.find(c), digits.npos) << c;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    held += 6;
    if (held >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 0xff);
  }
  std::vector<std::int16_t> numbers;
  for (std::size_t k = 0; k + 1 < bytes.size(); k += 2) {
    const auto low = static_cast<unsigned char>(bytes[k]), high = static_cast<unsigned char>(bytes[k + 1]);
    numbers.push_back(static_cast<std::int16_t>(low | high << 8));
  }
  return numbers;
}

}  // namespace nalm
