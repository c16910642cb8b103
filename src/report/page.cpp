#include "report/page.hpp"

#include <algorithm>

namespace nalm {

// Embedded by CMakeLists.txt.
namespace assets {
extern const std::string_view page_shell;
extern const std::string_view page_style;
extern const std::string_view page_report;
extern const std::string_view page_figure;
extern const std::string_view page_fit;
extern const std::string_view page_task;
extern const std::string_view page_library;
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
    case PageScript::Task:
      return assets::page_task;
  }
  return {};
}

void replace(std::string& text, std::string_view mark, std::string_view by) {
  if (const std::size_t at = text.find(mark); at != text.npos) text.replace(at, mark.size(), by);
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
        "this program was built without its plotting library, because npm was not there; install npm and build "
        "again."};
  std::string page(assets::page_shell);
  // The data last: whatever stands in it is not looked at again.
  replace(page, "/*NALM_STYLE*/", assets::page_style);
  replace(page, "/*NALM_LIBRARY*/", without_source_maps(escaped(assets::page_library, "</script", "<\\/script")));
  replace(page, "/*NALM_SCRIPT*/", script_of(script));
  replace(page, "NALM_TITLE", escaped(escaped(title, "&", "&amp;"), "<", "&lt;"));
  replace(page, "/*NALM_DATA*/", escaped(json, "<", "\\u003c"));
  return page;
}

}  // namespace nalm
