// nalm completion: scripts with which shells complete commands, options and names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"

namespace nalm::cli {
namespace {

// Inside of single quotes of a shell.
std::string in_quotes(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + result + "'";
}

std::vector<std::string> options_of(const CommandManual& command) {
  std::vector<std::string> names;
  for (const Argument& a : command.arguments) names.insert(names.end(), a.options.begin(), a.options.end());
  names.emplace_back("--help");
  return names;
}

std::vector<std::string> commands_of(const Manual& manual) {
  std::vector<std::string> names;
  for (const CommandManual& c : manual.commands) names.push_back(c.name);
  names.emplace_back("help");
  return names;
}

bool is_path(Value value) { return value == Value::File || value == Value::Folder; }

// What a value can be in bash: "words NAME..." or files.
std::string bash_values(const Argument& a) {
  const std::vector<std::string> words = completions_of(a);
  if (!words.empty()) return fmt::format("words={}", in_quotes(fmt::format("{}", fmt::join(words, " "))));
  return a.value == Value::Folder ? "kind=-d" : a.value == Value::File ? "kind=-f" : "words=''";
}

}  // namespace

std::string bash_completion(const Manual& manual) {
  std::string text = fmt::format(
      "# bash completion for nalm, written by \"nalm completion bash\".\n"
      "_nalm() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}\n"
      "  local words='' kind='' options=''\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    mapfile -t COMPREPLY < <(compgen -W {} -- \"$current\")\n"
      "    return\n"
      "  fi\n"
      "  case $command in\n",
      in_quotes(fmt::format("{} --help --version", fmt::join(commands_of(manual), " "))));
  for (const CommandManual& c : manual.commands) {
    text +=
        fmt::format("    {})\n      options={}\n", c.name, in_quotes(fmt::format("{}", fmt::join(options_of(c), " "))));
    for (const Argument& a : c.arguments)
      if (!a.word.empty()) {
        text += fmt::format("      {}\n", bash_values(a));
        break;
      }
    text += "      case $before in\n";
    for (const Argument& a : c.arguments)
      if (!a.options.empty() && !a.is_flag)
        text += fmt::format("        {}) options='' kind='' words=''; {} ;;\n", fmt::join(a.options, " | "),
                            bash_values(a));
    text += "      esac\n      ;;\n";
  }
  return text +
         fmt::format("    help) words={} ;;\n", in_quotes(fmt::format("{}", fmt::join(commands_of(manual), " ")))) +
         "  esac\n"
         "  if [[ $current == -* ]]; then words=$options kind=''; fi\n"
         "  if [[ $kind ]]; then\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    mapfile -t COMPREPLY < <(compgen \"$kind\" -- \"$current\")\n"
         "  else\n"
         "    # After a comma, the next name of a list.\n"
         "    local front=''\n"
         "    if [[ $current == *,* ]]; then front=${current%,*},; fi\n"
         "    set -f\n"
         "    mapfile -t COMPREPLY < <(compgen -P \"$front\" -W \"$words\" -- \"${current#\"$front\"}\")\n"
         "    set +f\n"
         "  fi\n"
         "}\n"
         "complete -F _nalm nalm\n";
}

std::string zsh_completion(const Manual& manual) {
  // In descriptions of _arguments, brackets and colons mean something.
  const auto plain = [](std::string_view help) {
    std::string result;
    for (const char c : help.substr(0, help.find_first_of(".;")))
      result += c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return result;
  };
  const auto action = [](const Argument& a) -> std::string {
    const std::vector<std::string> words = completions_of(a);
    if (!words.empty()) {
      std::string list;
      for (const std::string& word : words) {
        if (!list.empty()) list += ' ';
        for (const char c : word) list += c == '*' || c == '+' ? std::string("\\") + c : std::string(1, c);
      }
      return fmt::format("({})", list);
    }
    return a.value == Value::Folder ? "_files -/" : a.value == Value::File ? "_files" : " ";
  };
  std::string text =
      "#compdef nalm\n# zsh completion for nalm, written by \"nalm completion zsh\".\n"
      "_nalm() {\n  local -a commands\n  commands=(\n";
  for (const CommandManual& c : manual.commands)
    text += fmt::format("    {}\n", in_quotes(fmt::format("{}:{}", c.name, plain(c.description))));
  text +=
      "    'help:How a command is used'\n  )\n"
      "  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
      "  local command=${words[2]}\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const CommandManual& c : manual.commands) {
    text += fmt::format("    {})\n      _arguments", c.name);
    for (const Argument& a : c.arguments) {
      for (const std::string& option : a.options)
        text += fmt::format(" \\\n        {}", in_quotes(a.is_flag ? fmt::format("{}[{}]", option, plain(a.help))
                                                                   : fmt::format("{}[{}]:{}:{}", option, plain(a.help),
                                                                                 placeholder(a), action(a))));
      if (!a.word.empty())
        text += fmt::format(" \\\n        {}", in_quotes(fmt::format("{}:{}:{}",
                                                                     a.many       ? "*"
                                                                     : a.required ? ""
                                                                                  : ":",
                                                                     a.word, action(a))));
    }
    text += " \\\n        '--help[How it is used]'\n      ;;\n";
  }
  return text +
         "    help) _describe command commands ;;\n  esac\n}\nif [[ $funcstack[1] == _nalm ]]; then _nalm \"$@\"; else "
         "compdef _nalm nalm; fi\n";
}

std::string fish_completion(const Manual& manual) {
  // fish has its own rules for single quotes.
  const auto fish_quoted = [](std::string_view text) {
    std::string result;
    for (const char c : text) result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return "'" + result + "'";
  };
  const auto brief = [](const std::string& help) { return help.substr(0, help.find_first_of(".;")); };
  std::string text = "# fish completion for nalm, written by \"nalm completion fish\".\ncomplete -c nalm -f\n";
  for (const CommandManual& c : manual.commands)
    text += fmt::format("complete -c nalm -n __fish_use_subcommand -a {} -d {}\n", c.name,
                        fish_quoted(brief(c.description)));
  text += fmt::format(
      "complete -c nalm -n __fish_use_subcommand -a help -d 'How a command is used'\n"
      "complete -c nalm -n '__fish_seen_subcommand_from help' -a {}\n",
      fish_quoted(fmt::format("{}", fmt::join(commands_of(manual), " "))));
  for (const CommandManual& c : manual.commands) {
    const std::string here = fmt::format("complete -c nalm -n '__fish_seen_subcommand_from {}'", c.name);
    for (const Argument& a : c.arguments) {
      const std::vector<std::string> words = completions_of(a);
      const std::string values = !words.empty() ? " -a " + fish_quoted(fmt::format("{}", fmt::join(words, " "))) : "";
      if (!a.word.empty() && (!values.empty() || is_path(a.value)))
        text += here + (values.empty() ? " -F" : values) + "\n";
      for (const std::string& option : a.options) {
        const bool is_long = option.starts_with("--");
        text += fmt::format("{} {} {}{}{} -d {}\n", here, is_long ? "-l" : "-s", option.substr(is_long ? 2 : 1),
                            a.is_flag          ? ""
                            : is_path(a.value) ? " -rF"
                                               : " -x",
                            a.is_flag ? "" : values, fish_quoted(brief(a.help)));
      }
    }
  }
  return text;
}

void add_completion(Program& program) {
  static std::string shell;
  static const Program& all = program;
  program.add("completion", "The script with which a shell completes commands, options and names")
      .choice("shell", shell, {"bash", "zsh", "fish"}, "The shell")
      .example(
          "  nalm completion bash > ~/.local/share/bash-completion/completions/nalm\n"
          "  nalm completion zsh > ~/.zfunc/_nalm\n"
          "  nalm completion fish > ~/.config/fish/completions/nalm.fish\n"
          "An installed nalm has them in place.")
      .run([] {
        if (shell.empty()) return fail({"name the shell: nalm completion bash, zsh or fish."});
        write_data(shell == "bash"  ? bash_completion(all.manual())
                   : shell == "zsh" ? zsh_completion(all.manual())
                                    : fish_completion(all.manual()));
        return yes;
      });
}

}  // namespace nalm::cli
