#include "cli/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/utf8.hpp"
#include "cli/wrap.hpp"
#include "nalm/module.hpp"

namespace nalm::cli {
namespace {

constexpr std::size_t widest = 100;

// "  --name VALUE", and beside it, or where that leaves no room below it, what it means.
std::string entry(std::string_view name, std::string_view meaning, std::size_t columns) {
  constexpr std::size_t column = 28, least = 60;
  std::string text = fmt::format("  {}", name);
  std::size_t indent = 6;
  if (columns >= least) {
    indent = column;
    if (utf8_count(text) + 2 <= column) text.resize(text.size() + column - utf8_count(text), ' ');
  }
  const bool beside = text.size() >= column && text.ends_with(' ');
  if (!beside) text += "\n" + std::string(indent, ' ');
  return text + wrap_words(meaning, indent, indent, columns) + "\n";
}

std::string names_of(const Argument& argument) {
  std::string text = fmt::format("{}", fmt::join(argument.options, ", "));
  return argument.is_flag ? text : text + " " + placeholder(argument);
}

}  // namespace

const CommandManual* Manual::find(std::string_view name) const {
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const CommandManual& c) { return c.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

std::string placeholder(const Argument& argument) {
  std::string list = fmt::format("{}", fmt::join(argument.choices, "|"));
  if (!argument.choices.empty() && list.size() <= 22) return list;
  if (!argument.choices.empty()) return "NAME";
  constexpr const char* words[] = {"TEXT", "NUMBER", "FILE", "FOLDER", "NAME", "NAME"};  // in the order of Value
  return words[static_cast<std::size_t>(argument.value)];
}

std::string usage_of(const CommandManual& command) {
  std::string text = "nalm " + command.name;
  for (const Argument& a : command.arguments)
    if (!a.options.empty()) {
      text += " [OPTIONS]";
      break;
    }
  for (const Argument& a : command.arguments) {
    if (a.word.empty()) continue;
    const std::string word = a.word + (a.many ? "..." : "");
    text += a.required ? " " + word : " [" + word + "]";
  }
  return text;
}

std::string full_help(const Argument& argument) {
  std::string text = argument.help;
  if (!argument.choices.empty() && placeholder(argument) == "NAME")
    text += fmt::format(". One of {}", fmt::join(argument.choices, ", "));
  if (!argument.standard.empty()) text += fmt::format(" (default {})", argument.standard);
  return text;
}

std::vector<std::string> completions_of(const Argument& argument) {
  std::vector<std::string> words = argument.choices;
  if (words.empty() && argument.value == Value::Module)
    for (const ModuleInfo* module : all_modules()) words.emplace_back(module->name);
  if (words.empty() && argument.value == Value::Operation) words = {"add", "sub", "mul", "div"};
  return words;
}

std::string help_of(const CommandManual& command, std::size_t columns) {
  columns = std::min(columns, widest);
  std::string text = wrap_words(command.description, 0, 0, columns) +
                     ".\n\nUsage: " + wrap_words(usage_of(command), 7, 9, columns) + "\n\n";
  bool has_words = false;
  for (const Argument& a : command.arguments) {
    if (a.word.empty()) continue;
    text += entry(a.word, a.options.empty() ? full_help(a) : "The same as " + a.options.front(), columns);
    has_words = true;
  }
  text += has_words ? "\nOptions:\n" : "Options:\n";
  for (const Argument& a : command.arguments)
    if (!a.options.empty()) text += entry(names_of(a), full_help(a), columns);
  text += entry("-h, --help", "Print this help", columns);
  return text + "\nExample:\n" + lay_out(command.example, columns) + "\n";
}

std::string help_of(const Manual& manual, std::size_t columns) {
  columns = std::min(columns, widest);
  std::string text = lay_out(manual.description, columns) + "\n\nUsage: nalm COMMAND ...\n\nCommands:\n";
  for (const CommandManual& c : manual.commands) text += entry(c.name, c.description, columns);
  text += entry("help COMMAND", "How a command is used; nalm COMMAND --help is the same", columns);
  return text + entry("--version", "Version, compiler and SIMD target", columns) + "\n" +
         lay_out(manual.footer, columns) + "\n";
}

}  // namespace nalm::cli
