// nalm man: the manual page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "cli/command.hpp"
#include "nalm/version.hpp"

namespace nalm::cli {
namespace {

// As text of roff: a backslash and a minus have meanings of their own, and so has a dot or a quote at a line's start.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text)
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '~' ? "\\(ti" : c == '^' ? "\\(ha" : std::string(1, c);
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string capitals(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

// Lines that begin with spaces stay lines; the others are filled.
std::string paragraphs(std::string_view text) {
  std::string result;
  bool literal = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool indented = line.starts_with("  ");
    if (indented != literal) result += indented ? ".PP\n.RS 4\n.nf\n" : ".fi\n.RE\n.PP\n";
    literal = indented;
    if (line.empty()) continue;
    result += roff(line.substr(indented ? 2 : 0)) + "\n";
  }
  return result + (literal ? ".fi\n.RE\n" : "");
}

std::string item(std::string_view name, std::string_view meaning) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}.\n", roff(name), roff(meaning));
}

}  // namespace

std::string man_page(const Manual& manual, std::string_view version) {
  std::string text = fmt::format(
      ".TH NALM 1 \"\" \"nalm {}\" \"User Commands\"\n.SH NAME\nnalm \\- neural arithmetic logic modules\n"
      ".SH SYNOPSIS\n.B nalm\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n.SH DESCRIPTION\n{}.SH COMMANDS\n",
      roff(version), paragraphs(manual.description));
  for (const CommandManual& c : manual.commands) {
    text += fmt::format(".SS {}\n{}.\n", roff(usage_of(c)), roff(c.description));
    for (const Argument& a : c.arguments) {
      if (!a.word.empty()) text += item(a.word, full_help(a));
      if (!a.options.empty())
        text += item(
            fmt::format("{}{}{}", fmt::join(a.options, ", "), a.is_flag ? "" : " ", a.is_flag ? "" : placeholder(a)),
            full_help(a));
    }
    text += ".PP\nExample:\n" + paragraphs(c.example);
  }
  // "Environment:" and the like are headings.
  std::string_view rest = manual.footer;
  std::string body;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with(':') && !line.starts_with(' ')) {
      text += paragraphs(body) + fmt::format(".SH {}\n", capitals(line.substr(0, line.size() - 1)));
      body.clear();
    } else if (!line.empty()) {
      body += std::string(line) + "\n";
    }
  }
  return text + paragraphs(body);
}

void add_man(Program& program) {
  static const Program& all = program;
  program.add("man", "The manual page, as man reads it").example("  nalm man | man -l -\n  nalm man > nalm.1").run([] {
    write_data(man_page(all.manual(), nalm::version()));
    return yes;
  });
}

}  // namespace nalm::cli
