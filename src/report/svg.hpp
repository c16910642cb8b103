// Pictures as SVG text: shapes, words and mathematics in named colours, which a dark system turns dark. No browser is
// needed to make them, and no script to see them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nalm::svg {

// The report's colours (assets/style.css), for light and for dark.
struct Colour {
  std::string_view name, light, dark;
};
inline constexpr Colour none{"none", "none", "none"}, paper{"paper", "#ffffff", "#15171b"},
    panel{"panel", "#f6f5f2", "#1d2025"}, ink{"ink", "#1a1c20", "#ebe9e4"}, soft{"soft", "#565b64", "#a9adb5"},
    rule{"rule", "#cfcdc7", "#43484f"}, grid{"grid", "#e9e7e2", "#2a2e34"}, blue{"blue", "#0072b2", "#4ba3e0"},
    orange{"orange", "#d55e00", "#ff8142"}, green{"green", "#00795a", "#2fca9d"}, pink{"pink", "#a8356f", "#f2a8d2"},
    blue_wash{"blue-wash", "#e3f0f9", "#16324a"}, orange_wash{"orange-wash", "#fdeee3", "#4a2c17"},
    green_wash{"green-wash", "#e2f4ee", "#123c31"};
// Of the modules and other series, in an order that neighbours can be told apart in.
inline constexpr Colour series[] = {
    {"s0", "#0072b2", "#4ba3e0"}, {"s1", "#d55e00", "#ff8142"},  {"s2", "#009e73", "#2fca9d"},
    {"s3", "#cc6fa4", "#f2a8d2"}, {"s4", "#d98c00", "#f2ac33"},  {"s5", "#1f1f1f", "#f6f6f6"},
    {"s6", "#842050", "#c4649e"}, {"s7", "#3ba3df", "#a4defc"},  {"s8", "#85851a", "#cdc750"},
    {"s9", "#44408f", "#9f9bf0"}, {"s10", "#7a4a1c", "#c99763"}, {"s11", "#6b7680", "#a5b0ba"}};

struct Pen {
  Colour fill = none, stroke = none;
  double width = 1;
  std::string_view dash = "";
  double opacity = 1;
};
enum class Anchor { Start, Middle, End };
struct Font {
  double size = 11;
  Colour colour = ink;
  Anchor anchor = Anchor::Start;
  bool bold = false;
  double turn = 0;  // degrees
};

// How wide a text is set, on the safe side of the usual fonts.
double width_of(std::string_view text, const Font& font);
// Formulas as the modules' headers have them, set as people do: W_hat*x_i as Ŵ·x with an index.
double mathematics_width(std::string_view text, const Font& font);
// In lines of at most so many pixels; a part that is too long stays whole.
std::vector<std::string> wrapped(std::string_view text, double width, const Font& font, bool mathematics = false);

// 1.5, -3, 2e-07, with a proper minus.
std::string number(double value, int digits = 4);
// Words of a header, with the same minus in front of numbers.
std::string with_minus(std::string_view words);

// How a drawing is closed.
struct Finish {
  double millimetres = 0;       // its width in print, or 0 for pixels
  bool may_be_dark = true;      // with the colours of a dark system
  std::string_view names = "";  // in front of its names, where a page has other drawings
};

class Drawing {
 public:
  void rectangle(double x, double y, double width, double height, const Pen& pen, double radius = 0);
  void circle(double x, double y, double radius, const Pen& pen);
  void line(double x1, double y1, double x2, double y2, const Pen& pen);
  void path(std::string_view d, const Pen& pen, bool arrow = false);
  void text(double x, double y, std::string_view words, const Font& font = {});
  void mathematics(double x, double y, std::string_view formula, const Font& font = {});
  void image(double x, double y, double width, double height, std::string_view data);  // data: base64 of a PNG file
  void begin(double x, double y);  // a group moved there, and its end
  void end();
  void group(double x, double y, const Drawing& other);

  // Closed: with the background, and what it shows for those who do not see it.
  std::string finish(double width, double height, std::string_view title, const Finish& how = {}) const;
  bool empty() const { return body_.empty(); }

 private:
  std::string body_;
};

// An uncompressed PNG file in base64: a grid of numbers of colours, row by row from the top, and the colours: red,
// green, blue for each number.
std::string png(int width, int height, const std::vector<unsigned char>& grid, const std::string& colours);

std::string escaped(std::string_view text);

}  // namespace nalm::svg
