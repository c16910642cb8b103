// Pictures: of every module, of models, of what this is about; charts for print.
#include "report/picture.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "report/chart.hpp"
#include "words.hpp"

namespace nalm::picture_test {
namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Closed tags, and nothing that a reader of XML stumbles over.
void expect_whole(const std::string& svg) {
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 80);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  for (const char* tag : {"text", "tspan", "g", "title"})
    EXPECT_EQ(count_of(svg, std::string("<") + tag + " ") + count_of(svg, std::string("<") + tag + ">"),
              count_of(svg, std::string("</") + tag + ">"))
        << tag;
  EXPECT_FALSE(contains(svg, "nan"));
}

TEST(Picture, EveryModuleCanBeDrawn) {
  for (const ModuleInfo* module : all_modules()) {
    SCOPED_TRACE(module->name);
    for (const double width : {317.0, 640.0}) {
      const Picture picture =
          module_picture(*module, default_shape(*module, 3, module->outputs_multiple_of), nullptr, width);
      EXPECT_GE(picture.width, width);
      EXPECT_GT(picture.height, 100);
      const std::string svg = svg_of(picture);
      expect_whole(svg);
      EXPECT_TRUE(contains(svg, svg::escaped(module->name)));
      EXPECT_TRUE(contains(svg, "prefers-color-scheme: dark"));
    }
  }
}

// A picture that is wider than asked is made smaller in print and on a phone, and its letters with it.
TEST(Picture, LettersStayReadableInAColumn) {
  for (const ModuleInfo* module : all_modules())
    for (const double width : {84 / 25.4 * 96, phone_width}) {
      const Picture picture =
          module_picture(*module, default_shape(*module, 2, module->outputs_multiple_of), nullptr, width);
      EXPECT_LE(picture.width, width * 1.06) << module->name;
    }
}

// A matrix of long numbers shows as many columns as there is room for.
TEST(Picture, NumbersStayInTheirCells) {
  const ModuleInfo& nalu = **find_module("NALU");
  const LayerShape shape = default_shape(nalu, 8, 6);
  const Layer layer{&nalu, shape, std::vector<double>(8 * 6 * 3, -0.961234)};
  const Picture narrow = module_picture(nalu, shape, &layer, phone_width);
  EXPECT_LE(narrow.width, phone_width * 1.06);
  const double number = svg::width_of("\u22120.961", {.size = 10});
  const std::string svg = svg_of(narrow);
  for (std::size_t at = svg.find("height=\"15\""); at != svg.npos; at = svg.find("height=\"15\"", at + 1)) {
    const std::size_t from = svg.rfind("width=\"", at) + 7;
    EXPECT_GE(std::stod(svg.substr(from)), number);
  }
  EXPECT_TRUE(contains(svg, "\u2026"));
}

// The arrows of the drawing that is shown must not hang on the one that is not.
TEST(Picture, APageHasADrawingForPhonesWithNamesOfItsOwn) {
  const ModuleInfo& nalu = **find_module("NALU");
  const LayerShape shape = default_shape(nalu, 2, 1);
  const std::string page =
      page_drawing(module_picture(nalu, shape, nullptr, page_width), module_picture(nalu, shape, nullptr, phone_width));
  EXPECT_EQ(count_of(page, "<svg "), 2u);
  EXPECT_EQ(count_of(page, "id=\"arrow-blue\""), 1u);
  EXPECT_EQ(count_of(page, "id=\"phone-arrow-blue\""), 1u);
  const std::size_t narrow = page.find("class=\"narrow\"");
  EXPECT_EQ(count_of(page.substr(narrow), "url(#arrow-"), 0u);
  EXPECT_GT(count_of(page.substr(narrow), "url(#phone-arrow-"), 0u);
}

// Eight functions that are computed alike are one box, and what holds for all of them is said once.
TEST(Picture, ManyAlikeAreOneBox) {
  const ModuleInfo& functions = **find_module("Functions");
  const std::string svg = svg_of(module_picture(functions, default_shape(functions, 2, 1), nullptr, page_width));
  EXPECT_EQ(count_of(svg, "as it is"), 0u) << svg;
  EXPECT_TRUE(contains(svg, "as they are")) << svg;
  EXPECT_TRUE(contains(svg, "exp(x),\u00a0log(x)")) << svg;
}

TEST(Picture, WordsHaveAProperMinus) {
  const ModuleInfo& nau = **find_module("NAU");
  const std::string svg = svg_of(module_picture(nau, default_shape(nau, 2, 1), nullptr, page_width));
  EXPECT_TRUE(contains(svg, ">\u22121 subtracts")) << svg;
  EXPECT_TRUE(contains(svg, "subtracted (\u22121)")) << svg;
}

TEST(Picture, FormulasBreakBetweenTermsFirst) {
  const svg::Font font{.size = 10};
  const double width = svg::mathematics_width("aaaa*bbbb + cccc*", font) + 1;
  EXPECT_EQ(svg::wrapped("aaaa*bbbb + cccc*dddd", width, font, true),
            (std::vector<std::string>{"aaaa*bbbb +", "cccc*dddd"}));
  EXPECT_EQ(svg::wrapped("aaaa*bbbb", svg::mathematics_width("aaaa*b", font), font, true),
            (std::vector<std::string>{"aaaa*", "bbbb"}));
}

TEST(Picture, NamesCannotBreakThePicture) {
  svg::Drawing drawing;
  drawing.text(1, 2, "<script>&\"\x01");
  const std::string svg = drawing.finish(10, 10, "a < b");
  EXPECT_TRUE(contains(svg, "&lt;script&gt;&amp;&quot;<")) << svg;
  EXPECT_TRUE(contains(svg, "<title>a &lt; b</title>"));
}

TEST(Picture, InPrintItIsAsWideAsAsked) {
  const Picture picture = task_picture(317);
  EXPECT_TRUE(contains(svg_of(picture, 84), "width=\"84mm\""));
  EXPECT_FALSE(contains(svg_of(picture, 84, false), "prefers-color-scheme"));
  expect_whole(svg_of(idea_picture(640)));
}

TEST(Picture, FormulasAreSetAsPeopleWriteThem) {
  svg::Drawing drawing;
  drawing.mathematics(0, 0, "sum_i W_hat*x_io - 2^2");
  const std::string svg = drawing.finish(10, 10, "");
  for (const char* part : {"Σ", "Ŵ·", "\u2212", ">io<", ">2<"}) EXPECT_TRUE(contains(svg, part)) << part << svg;
  EXPECT_EQ(svg::number(-2e-7), "\u22122·10⁻⁷");
  EXPECT_EQ(svg::number(0.25), "0.25");
  EXPECT_EQ(svg::number(1e6, 3), "10⁶");
}

// Fonts without a place for the mark put the hat inside of the M.
TEST(Picture, TheHatOfMStandsAboveIt) {
  svg::Drawing drawing;
  drawing.mathematics(0, 0, "sigmoid(M_hat)");
  drawing.text(0, 0, "raw weight M\u0302");
  const std::string svg = drawing.finish(10, 10, "");
  EXPECT_EQ(count_of(svg, "\u0302"), 0u) << svg;
  EXPECT_EQ(count_of(svg, "\u02c6</tspan>"), 2u) << svg;
  const svg::Font font{.size = 10};
  EXPECT_NEAR(svg::mathematics_width("M_hat", font), svg::width_of("M", font), 1e-9);
}

// rsvg-convert drops a space where a piece begins, whatever kind of space.
TEST(Picture, ASpaceBehindAnIndexIsAShift) {
  svg::Drawing drawing;
  drawing.mathematics(0, 0, "x1 + x2");
  const std::string svg = drawing.finish(10, 10, "");
  EXPECT_TRUE(contains(svg, " dx=\"") && contains(svg, ">+\u00a0x<")) << svg;
}

// Ten paths, term by term, would fill the picture.
TEST(Picture, LongSumsAreWrittenAsSums) {
  const ModuleInfo& nsr = **find_module("NSR");
  const std::string svg = svg_of(module_picture(nsr, default_shape(nsr, 2, nsr.outputs_multiple_of), nullptr, 640));
  EXPECT_TRUE(contains(svg, "Σ")) << svg;
  EXPECT_FALSE(contains(svg, ">sign,10<")) << svg;
}

TEST(Picture, LinesAreWrapped) {
  const svg::Font font{.size = 10};
  const std::vector<std::string> lines = svg::wrapped("one two three four", svg::width_of("one two", font) + 1, font);
  EXPECT_EQ(lines, (std::vector<std::string>{"one two", "three", "four"}));
}

// A line that ends where there is no value does not go on behind it.
TEST(Chart, ABandAndABrokenLine) {
  Chart chart{.title = "error", .x = {.title = "iteration"}, .y = {.title = "mse", .logarithmic = true}};
  const double none = std::nan("");
  chart.series.push_back(
      {"NAU", {0, 1, 2, 3}, {1, none, 0.01, 0.001}, {1, none, 0.005, 0.0005}, {1, none, 0.02, 0.002}});
  chart.series.push_back({"NMU", {0, 3}, {1, 1e-6}, {}, {}});
  const std::string svg = svg_of(chart_picture("Learning curves", {chart}, 317));
  expect_whole(svg);
  for (const char* part : {"Learning curves", ">NAU<", ">NMU<", ">iteration<"})
    EXPECT_TRUE(contains(svg, part)) << part;
}

TEST(Chart, AMapOfNumbers) {
  MapOfNumbers map{"Runs solved", "%", {"NAU", "NMU"}, {"U[1,2)", "U[-2,2)"}, {{1, 0.5}, {std::nan(""), 0}}, 0, 1, 100};
  const std::string svg = svg_of(map_picture(map, 317));
  expect_whole(svg);
  for (const char* part : {">100<", ">50<", ">0<", ">–<", ">U[-2,2)<"}) EXPECT_TRUE(contains(svg, part)) << part;
}

}  // namespace
}  // namespace nalm::picture_test
