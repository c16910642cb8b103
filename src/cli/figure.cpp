// nalm figure: the paper's explanatory figures.
#include "report/figures.hpp"

#include <fmt/format.h>

#include "base/write_file.hpp"
#include "cli/command.hpp"

namespace nalm::cli {
namespace {

int figure(const std::string& name, const std::string& out, bool data_only) {
  if (name.empty()) {
    for (const FigureInfo& info : figures()) put("{:<14}{}\n", info.name, info.meaning);
    return yes;
  }
  const std::string_view ending = data_only ? ".json" : ".html";
  if (!out.empty() && !out.ends_with(ending) && !out.starts_with("/dev/"))
    return fail({fmt::format("{}: {}; name a file that ends with {}.", out,
                             data_only ? "the numbers are JSON" : "a figure is an HTML page", ending)});
  const Result<std::string> text = data_only ? figure_data(name) : figure_page(name);
  if (!text) return fail(text.error());
  const std::string path = out.empty() ? name + (data_only ? ".json" : ".html") : out;
  if (Status possible = may_write(path); !possible) return fail(possible.error());
  if (Status written = write_file(path, *text); !written) return fail(written.error());
  put("Written: {}\n", path);
  return yes;
}

}  // namespace

void add_figure(Program& program) {
  static std::string name, out;
  static bool data_only = false;
  program.add("figure", "Draw one of the paper's explanatory figures as an HTML page")
      .optional_word("name", name, "Which; the list of them if not given", Value::Text)
      .flag("--data", data_only, "Write the numbers as JSON instead")
      .text("-o,--output", out, "Write to this file; NAME.html if not given", Value::File)
      .example("  nalm figure\n  nalm figure singularity -o singularity.html")
      .run([] { return figure(name, out, data_only); });
}

}  // namespace nalm::cli
