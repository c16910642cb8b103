// Everything that the program prints, and what becomes of it. Only src/cli prints.
//
// A write that fails, because a disk is full or nobody reads any more, neither throws nor ends anything: what was asked
// for may be hours of training. It is remembered, and the program ends with finish_output.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm::cli {

// Exit codes.
inline constexpr int yes = 0;
inline constexpr int no = 1;       // the question was answered with no
inline constexpr int bad_use = 2;  // bad use or bad input, or the output could not be written

// Text for people. Names in it may come from anybody's file: control characters are shown and not obeyed.
void write_text(std::FILE* stream, std::string_view text);
// Text for programs, to standard output: as it is, unless a terminal reads it.
void write_data(std::string_view text);
// With control sequences of our own: bars and pictures that replace themselves.
void draw(std::FILE* stream, std::string_view text);

template <class... T>
void put(fmt::format_string<T...> format, T&&... values) {
  write_text(stdout, fmt::format(format, std::forward<T>(values)...));
}
// The same to standard error: what is said about the work.
template <class... T>
void tell(fmt::format_string<T...> format, T&&... values) {
  write_text(stderr, fmt::format(format, std::forward<T>(values)...));
}

// Prints the sentence to standard error and gives bad_use.
int fail(const Error& error);

// What was printed is read now, and not when the buffer is full.
void flush_output();
// The exit code of the whole: the given one if all that was printed has arrived, otherwise bad_use.
int finish_output(int exit_code);

// Whether that is a terminal, and how wide text for it may be: 40 columns or more, 100 for anything else.
bool is_terminal(std::FILE* stream);
std::size_t columns_of(std::FILE* stream);

// Control characters, characters that turn the direction of writing and bytes that are not UTF-8 as \x1b.
std::string visible(std::string_view text);

// Whether text may go to this file. Asked before the work, and at every place that writes a file: what is a part of a
// store is never replaced.
Status may_write(const std::string& path);

// Descriptors 0 to 2 that are closed are opened again, so that no file of ours is taken for standard output; writing to
// them fails still. A pipe that nobody reads is an error of writing, and not the end.
void prepare_output();

}  // namespace nalm::cli
