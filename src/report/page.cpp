#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace nalm {

// Embedded by CMakeLists.txt.
namespace assets {
extern const std::string_view page_shell;
extern const std::string_view page_style;
extern const std::string_view page_report;
extern const std::string_view page_figure;
extern const std::string_view page_fit;
extern const std::string_view page_comparison;
extern const std::string_view page_library;
extern const std::string_view no_library_reason;
}  // namespace assets

namespace {

std::string_view script_of(PageScript script) {
  switch (script) {
    case PageScript::Report:
      return assets::page_report;
    case PageScript::Figure:
      return assets::page_figure;
    case PageScript::Fit:
      return assets::page_fit;
    case PageScript::Comparison:
      return assets::page_comparison;
  }
  return {};
}

// Text between tags; "<" would let the page's end come early.
std::string escaped(std::string_view text, std::string_view what, std::string_view by) {
  std::string result(text);
  for (std::size_t at = 0; (at = result.find(what, at)) != result.npos; at += by.size())
    result.replace(at, what.size(), by);
  return result;
}

// Without the comments that name files which the page does not have.
std::string without_source_maps(std::string text) {
  constexpr std::string_view mark = "//# sourceMappingURL";
  for (std::size_t at; (at = text.find(mark)) != text.npos;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    text.erase(at, end - at);
  }
  return text;
}

}  // namespace

bool has_plotting_library() { return !assets::page_library.empty(); }

Result<std::string> make_page(std::string_view title, PageScript script, std::string_view json) {
  if (!has_plotting_library())
    return Error{
        fmt::format("this program was built without its plotting library, because {}; mend that and build again.",
                    assets::no_library_reason)};
  // In the order of the shell, each after the one before it: what stands in a text is never taken for a mark.
  const std::pair<std::string_view, std::string> parts[] = {
      {"NALM_TITLE", escaped(escaped(title, "&", "&amp;"), "<", "&lt;")},
      {"/*NALM_STYLE*/", std::string(assets::page_style)},
      {"/*NALM_DATA*/", escaped(json, "<", "\\u003c")},
      {"/*NALM_LIBRARY*/", without_source_maps(escaped(assets::page_library, "</script", "<\\/script"))},
      {"/*NALM_SCRIPT*/", std::string(script_of(script))},
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

}  // namespace nalm
