// What the commands say about themselves: the help, the manual page and the completions of shells are made of it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace nalm::cli {

// What a value is, for people and for shells that complete it.
enum class Value { Text, Number, File, Folder, Module, Operation };

struct Argument {
  std::vector<std::string> options;  // "-o", "--out"; none: it is a word at a place of its own
  std::string word;                  // its name if it can be given by its place, otherwise ""
  std::string help, standard;        // standard: what it is if not given, "" if that is nothing to speak of
  std::vector<std::string> choices;
  Value value = Value::Text;
  bool is_flag = false, required = false, many = false;
};

struct CommandManual {
  std::string name, description;
  std::deque<Argument> arguments;
  std::string example;  // lines; those that begin with spaces are commands, the others prose
};

struct Manual {
  std::string description;
  std::string footer;  // paragraphs with headings
  std::deque<CommandManual> commands;

  const CommandManual* find(std::string_view name) const;
};

// In so many columns.
std::string help_of(const Manual& manual, std::size_t columns);
std::string help_of(const CommandManual& command, std::size_t columns);

// What a value looks like: FILE, or integer|half|any if the choices are few.
std::string placeholder(const Argument& argument);
// "Usage: nalm fit [OPTIONS] data", without the first word.
std::string usage_of(const CommandManual& command);
// The help with what it is if not given, and the choices.
std::string full_help(const Argument& argument);
// Words that a shell can complete a value to.
std::vector<std::string> completions_of(const Argument& argument);

std::string man_page(const Manual& manual, std::string_view version);
std::string bash_completion(const Manual& manual);
std::string zsh_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);

}  // namespace nalm::cli
