#include "cli/command.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <sstream>

namespace nalm::cli {

std::size_t module_column(const std::vector<const ModuleInfo*>& modules) {
  std::size_t longest = 7;
  for (const ModuleInfo* module : modules) longest = std::max(longest, module->name.size());
  return longest + 2;
}

Command& Command::word(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->required();
  return *this;
}
Command& Command::words(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  app_->add_option(name, values, help);
  return *this;
}
Command& Command::optional_word(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->capture_default_str();
  return *this;
}
Command& Command::text(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->capture_default_str()->check([](const std::string& given) {
    return given.empty() ? std::string("the text is empty; leave the option away for the default") : std::string();
  });
  return *this;
}
Command& Command::flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
  return *this;
}
Command& Command::choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                         const std::string& help) {
  app_->add_option(name, value, help)->check(CLI::IsMember(choices))->capture_default_str();
  return *this;
}
Command& Command::number(const std::string& name, int& value, int lowest, int highest, const std::string& help) {
  app_->add_option(name, value, help)->check(CLI::Range(lowest, highest))->capture_default_str();
  return *this;
}
Command& Command::number(const std::string& name, std::uint64_t& value, const std::string& help) {
  app_->add_option(name, value, help)->capture_default_str();
  return *this;
}
Command& Command::number(const std::string& name, double& value, const std::string& help) {
  app_->add_option(name, value, help)->capture_default_str();
  return *this;
}
Command& Command::number(const std::string& name, std::optional<long>& value, long lowest, long highest,
                         const std::string& help) {
  app_->add_option_function<long>(
          name, [&value](const long& given) { value = given; }, help)
      ->check(CLI::Range(lowest, highest));
  return *this;
}
Command& Command::number(const std::string& name, std::optional<double>& value, const std::string& help) {
  app_->add_option_function<double>(
      name, [&value](const double& given) { value = given; }, help);
  return *this;
}
Command& Command::numbers(const std::string& name, std::vector<int>& values, int lowest, int highest,
                          const std::string& help) {
  app_->add_option(name, values, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(lowest, highest))
      ->capture_default_str();
  return *this;
}
Command& Command::numbers(const std::string& name, std::vector<double>& values, const std::string& help) {
  app_->add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
  return *this;
}

Command& Command::example(const std::string& lines) {
  app_->footer("\nExample:\n" + lines);
  return *this;
}

void Command::run(std::function<int()> action) {
  app_->callback([code = exit_code_, action = std::move(action)] { *code = action(); });
}

Program::Program(const std::string& description, const std::string& footer, std::function<std::string()> version)
    : app_(std::make_unique<CLI::App>(description)) {
  app_->require_subcommand(1);
  app_->set_version_flag("--version", std::move(version));
  app_->footer(footer);
}

Program::~Program() = default;

Command Program::add(const std::string& name, const std::string& description) {
  return {app_->add_subcommand(name, description), &exit_code_};
}

int Program::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // Help and version are not errors; everything else is bad use.
    if (e.get_exit_code() != 0) {
      tell("nalm: {}\nRun \"nalm --help\" or \"nalm COMMAND --help\".\n", e.what());
      return bad_use;
    }
    std::ostringstream text;
    app_->exit(e, text, text);
    write_text(stdout, text.str());
  }
  return exit_code_;
}

}  // namespace nalm::cli
