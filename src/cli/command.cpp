#include "cli/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace nalm::cli {
namespace {

// A whole number, also as 1e4. Such a number has a point or an exponent, and is exact up to 2^53.
template <class T>
T whole_number(const std::string& name, const std::string& text, T lowest, T highest) {
  const auto wrong = [&] {
    return CLI::ValidationError(name, fmt::format("{} is not a whole number from {} to {}", text, lowest, highest));
  };
  const char* const end = text.data() + text.size();
  T value{};
  if (const auto read = std::from_chars(text.data(), end, value); read.ec != std::errc{} || read.ptr != end) {
    double real{};
    const auto again = std::from_chars(text.data(), end, real);
    constexpr double exact = 9007199254740992;
    if (again.ec != std::errc{} || again.ptr != end || real != std::trunc(real) || !(std::fabs(real) <= exact) ||
        real < static_cast<double>(lowest) || real > static_cast<double>(highest))
      throw wrong();
    value = static_cast<T>(real);
  }
  if (value < lowest || value > highest) throw wrong();
  return value;
}

// A function that is called with the text of an option, for parsing of our own.
CLI::Option* on_text(CLI::App* app, const std::string& name, std::function<void(const std::string&)> f) {
  return app->add_option_function<std::string>(name, std::move(f));
}

std::string shown_name(const Argument& a) { return a.options.empty() ? a.word : a.options.back(); }

}  // namespace

std::size_t module_column(const std::vector<const ModuleInfo*>& modules) {
  std::size_t longest = 7;
  for (const ModuleInfo* module : modules) longest = std::max(longest, module->name.size());
  return longest + 2;
}

// ---- what a command takes ------------------------------------------------------------------------------------------

Argument& Command::note(const std::string& name, const std::string& help, Value kind, const std::string& standard) {
  Argument& argument = manual_->arguments.emplace_back();
  for (const std::string_view part : split(name)) {
    if (part.starts_with('-')) {
      argument.options.emplace_back(part);
    } else {
      argument.word = part;
    }
  }
  argument.help = help;
  argument.value = kind;
  argument.standard = standard;
  return argument;
}

Command& Command::word(const std::string& name, std::string& value, const std::string& help, Value kind) {
  note(name, help, kind).required = true;
  app_->add_option(name, value)->required();
  return *this;
}
Command& Command::words(const std::string& name, std::vector<std::string>& values, const std::string& help,
                        Value kind) {
  note(name, help, kind).many = true;
  app_->add_option(name, values);
  return *this;
}
Command& Command::optional_word(const std::string& name, std::string& value, const std::string& help, Value kind) {
  note(name, help, kind, value);
  app_->add_option(name, value);
  return *this;
}
Command& Command::text(const std::string& name, std::string& value, const std::string& help, Value kind) {
  note(name, help, kind, value);
  app_->add_option(name, value)->check([](const std::string& given) {
    return given.empty() ? std::string("the text is empty; leave the option away for the default") : std::string();
  });
  return *this;
}
Command& Command::flag(const std::string& name, bool& value, const std::string& help) {
  note(name, help, Value::Text).is_flag = true;
  app_->add_flag(name, value);
  return *this;
}
Command& Command::choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                         const std::string& help) {
  note(name, help, Value::Text, value).choices = choices;
  app_->add_option(name, value)->check([choices](const std::string& given) {
    if (std::find(choices.begin(), choices.end(), given) != choices.end()) return std::string();
    return fmt::format("{} is none of {}.{}", given, fmt::join(choices, ", "), did_you_mean(given, choices));
  });
  return *this;
}
Command& Command::number(const std::string& name, int& value, int lowest, int highest, const std::string& help) {
  const Argument& argument = note(name, help, Value::Number, fmt::format("{}", value));
  on_text(app_, name, [&value, lowest, highest, shown = shown_name(argument)](const std::string& given) {
    value = whole_number(shown, given, lowest, highest);
  });
  return *this;
}
Command& Command::number(const std::string& name, std::uint64_t& value, const std::string& help) {
  const Argument& argument = note(name, help, Value::Number, fmt::format("{}", value));
  on_text(app_, name, [&value, shown = shown_name(argument)](const std::string& given) {
    value = whole_number<std::uint64_t>(shown, given, 0, std::numeric_limits<std::uint64_t>::max());
  });
  return *this;
}
Command& Command::number(const std::string& name, double& value, const std::string& help) {
  note(name, help, Value::Number, fmt::format("{}", value));
  app_->add_option(name, value);
  return *this;
}
Command& Command::number(const std::string& name, std::optional<long>& value, long lowest, long highest,
                         const std::string& help) {
  const Argument& argument = note(name, help, Value::Number);
  on_text(app_, name, [&value, lowest, highest, shown = shown_name(argument)](const std::string& given) {
    value = whole_number(shown, given, lowest, highest);
  });
  return *this;
}
Command& Command::number(const std::string& name, std::optional<double>& value, const std::string& help) {
  note(name, help, Value::Number);
  app_->add_option_function<double>(name, [&value](const double& given) { value = given; });
  return *this;
}
Command& Command::numbers(const std::string& name, std::vector<int>& values, int lowest, int highest,
                          const std::string& help) {
  const Argument& argument = note(name, help, Value::Text, fmt::format("{}", fmt::join(values, ",")));
  on_text(app_, name, [&values, lowest, highest, shown = shown_name(argument)](const std::string& given) {
    values.clear();
    for (const std::string_view part : split(given))
      values.push_back(whole_number(shown, std::string(part), lowest, highest));
  });
  return *this;
}
Command& Command::numbers(const std::string& name, std::vector<double>& values, const std::string& help) {
  note(name, help, Value::Text);
  app_->add_option(name, values)->delimiter(',')->allow_extra_args(false);
  return *this;
}

Command& Command::example(const std::string& lines) {
  manual_->example = lines;
  return *this;
}

void Command::run(std::function<int()> action) {
  app_->callback([code = exit_code_, action = std::move(action)] { *code = action(); });
}

// ---- the program ---------------------------------------------------------------------------------------------------

Program::Program(const std::string& description, const std::string& footer, std::function<std::string()> version)
    : app_(std::make_unique<CLI::App>()), manual_{description, footer, {}}, version_(std::move(version)) {
  app_->set_help_flag();  // ours wraps
}

Program::~Program() = default;

Command Program::add(const std::string& name, const std::string& description) {
  CLI::App* app = app_->add_subcommand(name);
  app->set_help_flag();
  CommandManual& manual = manual_.commands.emplace_back();
  manual.name = name;
  manual.description = description;
  return {app, &manual, &exit_code_};
}

int Program::help(const std::string& command) const {
  const CommandManual* manual = manual_.find(command);
  if (!command.empty() && !manual) {
    std::vector<std::string> names;
    for (const CommandManual& c : manual_.commands) names.push_back(c.name);
    return refuse(fmt::format("there is no command \"{}\".{}", command, did_you_mean(command, names)));
  }
  const std::size_t columns = columns_of(stdout);
  write_text(stdout, manual ? help_of(*manual, columns) : help_of(manual_, columns));
  return yes;
}

int Program::refuse(const std::string& message, const CommandManual* command) const {
  tell("nalm: {}\nRun \"nalm{} --help\".\n", message, command ? " " + command->name : "");
  return bad_use;
}

int Program::run(int argc, char** argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const auto is_help = [](const std::string& a) { return a == "--help" || a == "-h"; };
  const std::string first = arguments.empty() ? "help" : arguments[0];
  if (first == "help" || is_help(first)) return help(arguments.size() > 1 ? arguments[1] : "");
  if (first == "--version") {
    put("{}\n", version_());
    return yes;
  }
  const CommandManual* manual = manual_.find(first);
  if (!manual && !first.starts_with('-')) return help(first);  // which says that there is none
  // Not what follows --: that may begin with a dash and mean something.
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (manual && std::any_of(arguments.begin(), end, is_help)) return help(first);
  return parse(std::move(arguments));
}

int Program::parse(std::vector<std::string> arguments) {
  const CommandManual* manual = manual_.find(arguments[0]);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app_->parse(std::move(arguments));
    return exit_code_;
  } catch (const CLI::ExtrasError&) {
    std::vector<std::string> names;
    for (const Argument& a : manual ? manual->arguments : std::deque<Argument>{})
      names.insert(names.end(), a.options.begin(), a.options.end());
    const std::vector<std::string> extra = app_->remaining(true);
    const auto option = std::find_if(extra.begin(), extra.end(), [](const std::string& a) { return a[0] == '-'; });
    if (option == extra.end())
      return refuse(fmt::format("{} does not take \"{}\".", manual ? manual->name : "nalm", fmt::join(extra, " ")),
                    manual);
    return refuse(fmt::format("{} has no option {}.{}", manual ? manual->name : "nalm", *option,
                              did_you_mean(option->substr(0, option->find('=')), names)),
                  manual);
  } catch (const CLI::RequiredError& e) {
    for (const Argument& a : manual ? manual->arguments : std::deque<Argument>{})
      if (a.required && std::string(e.what()).starts_with(a.word + " "))
        return refuse(fmt::format("{} needs {}: {}.", manual->name, a.word, a.help), manual);
    return refuse(e.what(), manual);
  } catch (const CLI::ParseError& e) {
    const std::string message = e.what();
    return refuse(message + (message.ends_with('.') || message.ends_with('?') ? "" : "."), manual);
  }
}

}  // namespace nalm::cli
