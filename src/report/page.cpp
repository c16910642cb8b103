#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace nalm {

namespace assets {
extern const std::string_view page_shell, page_style, page_licences, page_library, no_library_reason;
}

namespace {

// Without the comments that name files which the page does not have.
std::string without_source_maps(std::string text) {
  constexpr std::string_view mark = "//# sourceMappingURL";
  for (std::size_t at = 0; (at = text.find(mark)) != text.npos;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    text.erase(at, end - at);
  }
  return text;
}

}  // namespace

bool has_plotting_library() { return !assets::page_library.empty(); }

Result<std::string> make_page(std::string_view title, std::string_view script, std::string_view json) {
  if (!has_plotting_library())
    return Error{
        fmt::format("this program was built without its plotting library, because {}; mend that and build again.",
                    assets::no_library_reason)};
  // In the order of the shell, each after the one before it: what stands in a text is never taken for a mark.
  const std::pair<std::string_view, std::string> parts[] = {
      {"NALM_TITLE", replaced(replaced(std::string(title), "&", "&amp;"), "<", "&lt;")},
      {"/*NALM_STYLE*/", std::string(assets::page_style)},
      {"/*NALM_DATA*/", replaced(std::string(json), "<", "\\u003c")},  // "<" would let the page's end come early
      {"NALM_LICENCES", std::string(assets::page_licences)},
      {"/*NALM_LIBRARY*/", without_source_maps(replaced(std::string(assets::page_library), "</script", "<\\/script"))},
      {"/*NALM_SCRIPT*/", std::string(script)},
  };
  std::string page;
  std::string_view rest = assets::page_shell;
  for (const auto& [mark, text] : parts) {
    const std::size_t at = rest.find(mark);
    page.append(rest.substr(0, at)).append(text);
    rest.remove_prefix(at + mark.size());
  }
  page += rest;
  return page;
}

std::string make_plain_page(std::string_view title, std::string_view body) {
  constexpr std::string_view head = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<link rel="icon" href="data:,">
<title>)";
  std::string page(head);
  page += replaced(replaced(std::string(title), "&", "&amp;"), "<", "&lt;");
  page += "</title>\n<style>";
  page += assets::page_style;
  page += "</style>\n</head>\n<body>\n<main id=\"page\" class=\"plain-page\">\n";
  page += body;
  page += "</main>\n</body>\n</html>\n";
  return page;
}

}  // namespace nalm
