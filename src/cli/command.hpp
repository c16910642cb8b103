// What the commands share. Only src/cli prints.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "nalm/result.hpp"

namespace nalm::cli {

// Exit codes.
inline constexpr int yes = 0;
inline constexpr int no = 1;       // the question was answered with no
inline constexpr int bad_use = 2;  // bad use or bad input

// Each command adds itself to the program; its callback leaves the exit code here.
void add_list(CLI::App& program, int& exit_code);
void add_check(CLI::App& program, int& exit_code);
void add_eval(CLI::App& program, int& exit_code);
void add_explain(CLI::App& program, int& exit_code);

// Prints the sentence to standard error and gives bad_use.
int fail(const Error& error);

// A heading line and an example below the options, for every command's --help.
void set_example(CLI::App& command, const std::string& example);

}  // namespace nalm::cli
