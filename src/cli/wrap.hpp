// Text in lines that fit the terminal.
#pragma once

#include <string>
#include <string_view>

namespace nalm::cli {

// For text of standard output. Every line after the first is indented; where that leaves no room, the first as well.
std::string wrap(std::string_view text, std::size_t indent);
void print_field(std::string_view label, std::string_view text);

// Words in lines of at most so many columns, the first from a column on, the others indented.
std::string wrap_words(std::string_view text, std::size_t column, std::size_t indent, std::size_t columns);

// Any text in so many columns. Lines that are too long are broken between words. In a block of lines that is a table,
// too many columns become several tables, each with the first column.
std::string lay_out(std::string_view text, std::size_t columns);

}  // namespace nalm::cli
