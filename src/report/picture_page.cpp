// Pictures as files and on pages. A page carries each picture twice, because letters that are made smaller with a
// picture cannot be read on a phone: there another drawing, as wide as the screen, takes the place of the usual one.
#include <fmt/format.h>

#include "report/page.hpp"
#include "report/picture.hpp"

namespace nalm {

std::string svg_of(const Picture& picture, double millimetres, bool may_be_dark) {
  return picture.drawing.finish(picture.width, picture.height, picture.title,
                                {.millimetres = millimetres, .may_be_dark = may_be_dark});
}

std::string page_drawing(const Picture& wide, const Picture& narrow) {
  // A browser looks for an arrow's tip by its name and takes the first, which may be in the picture that is not shown.
  const std::string phone =
      narrow.drawing.finish(narrow.width, narrow.height, narrow.title, {.may_be_dark = true, .names = "phone-"});
  return fmt::format(
      "<figure class=\"drawing\">\n<div class=\"wide\">\n{}</div>\n<div class=\"narrow\">\n{}</div>\n</figure>\n",
      svg_of(wide), phone);
}

std::string picture_page(const Picture& wide, const Picture& narrow, std::string_view heading,
                         const std::vector<std::string>& paragraphs) {
  std::string body = fmt::format("<h1>{}</h1>\n{}", svg::escaped(heading), page_drawing(wide, narrow));
  for (const std::string& paragraph : paragraphs) body += fmt::format("<p>{}</p>\n", svg::escaped(paragraph));
  return make_plain_page(heading, body);
}

}  // namespace nalm
