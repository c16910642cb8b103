#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/curve_codes.hpp"

namespace nalm::svg {
namespace {

constexpr std::string_view font_family = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

// Widths of the letters of Helvetica in thousandths, from the space on. DejaVu Sans, which many systems have instead,
// is an eighth wider.
constexpr std::array<int, 95> letter_widths = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
constexpr double room = 1.13;

double plain_width(std::string_view text, double size, bool bold) {
  double width = 0;
  for (std::size_t k = 0; k < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text, k));
    const auto c = static_cast<unsigned char>(text[k]);
    const bool combining = length == 2 && c == 0xCC;
    width += length == 1 && c >= 32 && c < 127 ? letter_widths[static_cast<std::size_t>(c - 32)] : combining ? 0 : 600;
    k += length;
  }
  return width / 1000 * size * room * (bold ? 1.15 : 1);
}

// A piece of a formula: on the line, below it or above it, or a hat over the letter before it.
struct Run {
  std::string text;
  int level = 0;
};
constexpr int hat_level = 2;

// M with a hat is no letter of its own, and fonts without a place for the mark put it inside of the M. So the hat is a
// piece that stands back and up: by half of an M and half of itself.
constexpr std::string_view hatted_m = "M\u0302", hat = "\u02c6";
constexpr double hat_back = 0.583, hat_on = 0.25, hat_up = 0.2;

std::vector<Run> with_hats(const std::vector<Run>& runs) {
  std::vector<Run> result;
  for (const Run& run : runs) {
    std::string_view rest = run.text;
    for (std::size_t at = rest.find(hatted_m); at != rest.npos; at = rest.find(hatted_m)) {
      result.push_back({std::string(rest.substr(0, at + 1)), run.level});
      result.push_back({std::string(hat), hat_level});
      rest.remove_prefix(at + hatted_m.size());
    }
    if (!rest.empty()) result.push_back({std::string(rest), run.level});
  }
  return result;
}

std::string symbol_for(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> symbols[] = {
      {"sum", "Σ"},    {"prod", "Π"},  {"sigmoid", "σ"}, {"pi", "π"},          {"eps", "ε"},  {"phi", "φ"},
      {"lambda", "λ"}, {"alpha", "α"}, {"W_hat", "Ŵ"},   {"M_hat", "M\u0302"}, {"A_hat", "Â"}};
  for (const auto& [from, to] : symbols)
    if (word == from) return std::string(to);
  return std::string(word);
}

std::vector<Run> set(std::string_view text) {
  std::vector<Run> runs;
  const auto add = [&](std::string_view piece, int level) {
    if (piece.empty()) return;
    if (!runs.empty() && runs.back().level == level)
      runs.back().text += piece;
    else
      runs.push_back({std::string(piece), level});
  };
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t k = 0; k < text.size();) {
    const char c = text[k];
    if (letter(c)) {
      std::size_t end = k;
      while (end < text.size() && (letter(text[end]) || digit(text[end]) || text[end] == '_')) ++end;
      std::string_view word = text.substr(k, end - k), below;
      k = end;
      std::size_t split = word.find('_');
      if (split != word.npos && word.substr(split).starts_with("_hat")) split = word.find('_', split + 1);
      if (split != word.npos && split > 0) {
        below = word.substr(split + 1);
        word = word.substr(0, split);
      } else if (word.size() > 1 && word.size() <= 3 && digit(word[1])) {  // x1
        below = word.substr(1);
        word = word.substr(0, 1);
      }
      // A sum is only a sign where it has an index: there are quantities of that name.
      const bool is_word = below.empty() && (word == "sum" || word == "prod");
      add(is_word ? std::string(word) : symbol_for(word), 0);
      add(replaced(std::string(below), "_", ","), -1);
    } else if (c == '^') {
      std::size_t end = k + 1;
      while (end < text.size() && (digit(text[end]) || text[end] == '.')) ++end;
      if (end == k + 1) add("^", 0);
      add(text.substr(k + 1, end - k - 1), 1);
      k = end;
    } else if (c == '-' && (k == 0 || text[k - 1] != 'e' || k + 1 >= text.size() || !digit(text[k + 1]))) {
      add("\u2212", 0);
      ++k;
    } else {
      add(c == '*' ? std::string_view("\u00b7") : text.substr(k, 1), 0);
      ++k;
    }
  }
  return with_hats(runs);
}

std::string colour_attributes(std::string_view property, const Colour& colour, std::string& classes) {
  if (colour.name != "none") classes += fmt::format("{}{}{}", classes.empty() ? "" : " ", property[0], colour.name);
  return fmt::format(" {}=\"{}\"", property, colour.light);
}

std::string attributes(const Pen& pen) {
  std::string classes, text = colour_attributes("fill", pen.fill, classes);
  if (pen.stroke.name != "none") {
    text += colour_attributes("stroke", pen.stroke, classes);
    text += fmt::format(" stroke-width=\"{:.4g}\"", pen.width);
    if (!pen.dash.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", pen.dash);
  }
  if (pen.opacity < 1) text += fmt::format(" opacity=\"{:.4g}\"", pen.opacity);
  if (!classes.empty()) text += fmt::format(" class=\"{}\"", classes);
  return text;
}

std::string attributes(const Font& font, double x, double y) {
  std::string classes, text = fmt::format(" font-size=\"{:.4g}\"", font.size);
  text += colour_attributes("fill", font.colour, classes);
  if (font.bold) text += " font-weight=\"bold\"";
  if (font.anchor != Anchor::Start)
    text += fmt::format(" text-anchor=\"{}\"", font.anchor == Anchor::Middle ? "middle" : "end");
  if (font.turn != 0) text += fmt::format(" transform=\"rotate({:.4g} {:.5g} {:.5g})\"", font.turn, x, y);
  return text + fmt::format(" class=\"{}\"", classes);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 32) safe += c;
    }
  }
  return safe;
}

double width_of(std::string_view text, const Font& font) { return plain_width(text, font.size, font.bold); }

double mathematics_width(std::string_view text, const Font& font) {
  double width = 0;
  for (const Run& run : set(text))
    if (run.level != hat_level)
      width += plain_width(run.text, run.level == 0 ? font.size : 0.74 * font.size, font.bold);
  return width;
}

std::vector<std::string> wrapped(std::string_view text, double width, const Font& font, bool mathematics) {
  std::vector<std::string> lines{""};
  const auto measure = [&](std::string_view line) {
    return mathematics ? mathematics_width(line, font) : width_of(line, font);
  };
  for (std::size_t k = 0; k < text.size();) {
    // A piece ends with a space; in a formula, if it would not fit on a line, behind a sign of multiplication.
    const auto piece_until = [&](std::string_view ends) {
      return text.substr(k, std::min(text.find_first_of(ends, k), text.size() - 1) + 1 - k);
    };
    std::string_view piece = piece_until(" ");
    if (mathematics && measure(trim(piece)) > width) piece = piece_until(" *");
    if (!lines.back().empty() && measure(lines.back() + std::string(trim(piece))) > width) lines.emplace_back();
    lines.back() += piece;
    k += piece.size();
  }
  for (std::string& line : lines) line = std::string(trim(line));
  return lines;
}

std::string number(double value, int digits) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value < 0 ? "\u2212\u221e" : "\u221e";
  std::string text = fmt::format("{:.{}g}", value == 0 ? 0.0 : value, digits);
  const std::size_t e = text.find('e');
  if (e != text.npos) {  // 2e-07 is 2·10⁻⁷
    int power = 0;
    if (const auto read = number_in<int>(std::string_view(text).substr(text[e + 1] == '+' ? e + 2 : e + 1)))
      power = *read;
    constexpr std::string_view raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string mantissa = text.substr(0, e), exponent = power < 0 ? "⁻" : "";
    for (const char c : std::to_string(std::abs(power))) exponent += raised[static_cast<std::size_t>(c - '0')];
    text = mantissa == "1" ? "10" + exponent : mantissa == "-1" ? "-10" + exponent : mantissa + "·10" + exponent;
  }
  return replaced(text, "-", "\u2212");
}

std::string with_minus(std::string_view words) {
  std::string text;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const bool is_minus = words[k] == '-' && (k == 0 || words[k - 1] == ' ' || words[k - 1] == '(') &&
                          k + 1 < words.size() && words[k + 1] >= '0' && words[k + 1] <= '9';
    text += is_minus ? "\u2212" : std::string(1, words[k]);
  }
  return text;
}

void Drawing::rectangle(double x, double y, double width, double height, const Pen& pen, double radius) {
  body_ += fmt::format("<rect x=\"{:.5g}\" y=\"{:.5g}\" width=\"{:.5g}\" height=\"{:.5g}\"{}{}/>\n", x, y, width,
                       height, radius > 0 ? fmt::format(" rx=\"{:.4g}\"", radius) : "", attributes(pen));
}
void Drawing::circle(double x, double y, double radius, const Pen& pen) {
  body_ += fmt::format("<circle cx=\"{:.5g}\" cy=\"{:.5g}\" r=\"{:.4g}\"{}/>\n", x, y, radius, attributes(pen));
}
void Drawing::line(double x1, double y1, double x2, double y2, const Pen& pen) {
  body_ += fmt::format("<line x1=\"{:.5g}\" y1=\"{:.5g}\" x2=\"{:.5g}\" y2=\"{:.5g}\"{}/>\n", x1, y1, x2, y2,
                       attributes(pen));
}
void Drawing::path(std::string_view d, const Pen& pen, bool arrow) {
  body_ += fmt::format("<path d=\"{}\"{}{}/>\n", d, attributes(pen),
                       arrow ? fmt::format(" marker-end=\"url(#arrow-{})\"", pen.stroke.name) : "");
}
namespace {

std::string spans_of(const std::vector<Run>& runs, const Font& font) {
  std::string spans;
  double shift = 0;
  bool after_hat = false;
  for (const Run& run : runs) {
    const bool is_hat = run.level == hat_level;
    const double wanted = is_hat          ? -hat_up * font.size
                          : run.level < 0 ? 0.25 * font.size
                          : run.level > 0 ? -0.38 * font.size
                                          : 0;
    std::string_view piece = run.text;
    double along = is_hat ? -hat_back * font.size : after_hat ? hat_on * font.size : 0;
    // Spaces vanish where a piece begins: browsers keep those that do not break, rsvg-convert only a shift.
    if (wanted != shift && piece.starts_with(' ')) {
      piece.remove_prefix(1);
      along += width_of(" ", font);
    }
    std::string move = wanted == shift ? "" : fmt::format(" dy=\"{:.3g}\"", wanted - shift);
    if (along != 0) move += fmt::format(" dx=\"{:.3g}\"", along);
    const std::string words = replaced(escaped(piece), " ", "\u00a0");
    if (run.level == 0 && move.empty())
      spans += words;
    else
      spans +=
          fmt::format("<tspan{}{}>{}</tspan>", move,
                      run.level == 0 || is_hat ? "" : fmt::format(" font-size=\"{:.3g}\"", 0.74 * font.size), words);
    shift = wanted;
    after_hat = is_hat;
  }
  return spans;
}

}  // namespace

void Drawing::text(double x, double y, std::string_view words, const Font& font) {
  const bool has_hat = words.find(hatted_m) != words.npos;
  body_ += fmt::format("<text x=\"{:.5g}\" y=\"{:.5g}\"{}>{}</text>\n", x, y, attributes(font, x, y),
                       has_hat ? spans_of(with_hats({{std::string(words)}}), font) : escaped(words));
}
void Drawing::mathematics(double x, double y, std::string_view formula, const Font& font) {
  body_ += fmt::format("<text x=\"{:.5g}\" y=\"{:.5g}\"{}>{}</text>\n", x, y, attributes(font, x, y),
                       spans_of(set(formula), font));
}
void Drawing::image(double x, double y, double width, double height, std::string_view data) {
  body_ += fmt::format(
      "<image x=\"{:.5g}\" y=\"{:.5g}\" width=\"{:.5g}\" height=\"{:.5g}\" preserveAspectRatio=\"none\" "
      "xlink:href=\"data:image/png;base64,{}\"/>\n",
      x, y, width, height, data);
}
void Drawing::begin(double x, double y) { body_ += fmt::format("<g transform=\"translate({:.5g} {:.5g})\">\n", x, y); }
void Drawing::end() { body_ += "</g>\n"; }
void Drawing::group(double x, double y, const Drawing& other) {
  begin(x, y);
  body_ += other.body_;
  end();
}

std::string Drawing::finish(double width, double height, std::string_view title, const Finish& how) const {
  const double millimetres = how.millimetres;
  std::vector<Colour> colours{paper,  panel, ink,  soft,      rule,        grid,      blue,
                              orange, green, pink, blue_wash, orange_wash, green_wash};
  colours.insert(colours.end(), std::begin(series), std::end(series));
  const auto used = [&](std::string_view name) {
    return body_.find(fmt::format("\"{}\"", name)) != body_.npos ||
           body_.find(fmt::format("\"{} ", name)) != body_.npos || body_.find(fmt::format(" {}\"", name)) != body_.npos;
  };
  std::string dark, arrows;
  for (const Colour& colour : colours) {
    const std::string mark = fmt::format("arrow-{}", colour.name);
    const bool has_arrow = body_.find(fmt::format("#{})", mark)) != body_.npos;
    if (colour.name == paper.name || has_arrow || used(fmt::format("f{}", colour.name)))
      dark += fmt::format(".f{}{{fill:{}}}", colour.name, colour.dark);
    if (used(fmt::format("s{}", colour.name))) dark += fmt::format(".s{}{{stroke:{}}}", colour.name, colour.dark);
    if (has_arrow)
      arrows += fmt::format(
          "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6.5\" markerHeight=\"6.5\" "
          "orient=\"auto\"><path d=\"M0,0.6L8,4L0,7.4z\" fill=\"{}\" class=\"f{}\"/></marker>",
          fmt::format("{}{}", how.names, mark), colour.light, colour.name);
  }
  std::string head = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{}\" "
      "height=\"{}\" viewBox=\"0 0 {:.5g} {:.5g}\" font-family=\"{}\" role=\"img\" "
      "aria-label=\"{}\">\n<title>{}</title>\n",
      millimetres > 0 ? fmt::format("{:.5g}mm", millimetres) : fmt::format("{:.5g}", width),
      millimetres > 0 ? fmt::format("{:.5g}mm", height * millimetres / width) : fmt::format("{:.5g}", height), width,
      height, font_family, escaped(title), escaped(title));
  if (how.may_be_dark) head += fmt::format("<style>@media (prefers-color-scheme: dark) {{{}}}</style>\n", dark);
  if (!arrows.empty()) head += fmt::format("<defs>{}</defs>\n", arrows);
  Drawing background;
  background.rectangle(0, 0, width, height, {.fill = paper});
  const std::string body =
      how.names.empty() ? body_ : replaced(body_, "=\"url(#", fmt::format("=\"url(#{}", how.names));
  return head + background.body_ + body + "</svg>\n";
}

// ---- PNG -----------------------------------------------------------------------------------------------------------

namespace {

void put_big(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xff);
}
std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}
void put_chunk(std::string& file, std::string_view kind, std::string_view content) {
  put_big(file, static_cast<std::uint32_t>(content.size()));
  const std::string checked = std::string(kind) + std::string(content);
  file += checked;
  put_big(file, checksum(checked));
}

}  // namespace

std::string png(int width, int height, const std::vector<unsigned char>& grid_of_numbers, const std::string& colours) {
  std::string rows;
  for (int y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    for (int x = 0; x < width; ++x) rows += static_cast<char>(grid_of_numbers[static_cast<std::size_t>(width * y + x)]);
  }
  std::string packed = "\x78\x01";
  for (std::size_t at = 0; at < rows.size(); at += 65535) {
    const std::size_t size = std::min<std::size_t>(65535, rows.size() - at);
    packed += static_cast<char>(at + size == rows.size() ? 1 : 0);
    for (const std::size_t word : {size, ~size}) {
      packed += static_cast<char>(word & 0xff);
      packed += static_cast<char>((word >> 8) & 0xff);
    }
    packed.append(rows, at, size);
  }
  std::uint32_t a = 1, b = 0;
  for (const char c : rows) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  put_big(packed, b << 16 | a);
  std::string header;
  put_big(header, static_cast<std::uint32_t>(width));
  put_big(header, static_cast<std::uint32_t>(height));
  header.append("\x08\x03\0\0\0", 5);
  std::string file = "\x89PNG\r\n\x1a\n";
  put_chunk(file, "IHDR", header);
  put_chunk(file, "PLTE", colours);
  put_chunk(file, "IDAT", packed);
  put_chunk(file, "IEND", "");
  return base64(file);
}

}  // namespace nalm::svg
