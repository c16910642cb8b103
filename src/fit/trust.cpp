#include "fit/trust.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "base/random.hpp"
#include "fit/tape.hpp"
#include "formula/node.hpp"

namespace nalm::fitting {

namespace {

using Kind = Expression::Kind;

constexpr std::size_t probe_points = 10000;

std::vector<double> values_on(const Expression& formula, const std::vector<std::string>& columns,
                              const std::vector<const double*>& rows) {
  Tape tape(formula, columns, 0, rows);
  std::vector<double> y(rows.size());
  for (std::size_t first = 0; first < rows.size(); first += Tape::block) {
    tape.run(first, std::min(Tape::block, rows.size() - first), {}, y.data() + first);
  }
  return y;
}

std::vector<const double*> all_rows(const Data& data) {
  std::vector<const double*> rows;
  for (std::size_t r = 0; r < data.rows; ++r) rows.push_back(data.row(r));
  return rows;
}

struct Box {
  std::vector<double> low, high;  // of the data

  double half(std::size_t i) const { return (high[i] - low[i]) / 2; }
  // A column without negative values is not probed below zero.
  double probed_low(std::size_t i) const { return low[i] < 0 ? low[i] - half(i) : std::max(0.0, low[i] - half(i)); }
  double probed_high(std::size_t i) const { return high[i] + half(i); }
};

Box box_of(const Data& data) {
  Box box{std::vector<double>(data.row(0), data.row(0) + data.inputs),
          std::vector<double>(data.row(0), data.row(0) + data.inputs)};
  for (std::size_t r = 0; r < data.rows; ++r) {
    for (std::size_t i = 0; i < data.inputs; ++i) {
      box.low[i] = std::min(box.low[i], data.row(r)[i]);
      box.high[i] = std::max(box.high[i], data.row(r)[i]);
    }
  }
  return box;
}

std::vector<double> points_of(const Box& box, std::uint64_t seed) {
  Xoshiro random(seed ^ 0x70726f6265u);
  std::vector<double> points;
  points.reserve(probe_points * box.low.size());
  for (std::size_t k = 0; k < probe_points; ++k) {
    for (std::size_t i = 0; i < box.low.size(); ++i)
      points.push_back(random.between(box.probed_low(i), box.probed_high(i)));
  }
  return points;
}

std::vector<const double*> rows_in(const std::vector<double>& points, std::size_t inputs) {
  std::vector<const double*> rows;
  for (std::size_t k = 0; k < points.size(); k += inputs) rows.push_back(points.data() + k);
  return rows;
}

// Where a formula can fail: what it divides by, and what it takes roots, logarithms or an arcus of.
struct Danger {
  Expression expression;
  bool divides = false;         // must not be 0
  std::string_view positive{};  // must not be negative, else it has none of this
  std::string_view unit{};      // must not leave [-1, 1], else it has none of this

  bool has_bounds() const { return !positive.empty() || !unit.empty(); }
  bool is_inside(double v) const { return !(!positive.empty() && v < 0) && !(!unit.empty() && std::fabs(v) > 1); }
};

void add_danger(std::vector<Danger>& dangers, const Expression& e, bool divides, std::string_view positive = {},
                std::string_view unit = {}) {
  if (e.kind() == Kind::Constant) return;
  // A product fails where one of its factors does.
  if (divides && positive.empty() && e.kind() == Kind::Multiply) {
    for (const Expression& factor : e.operands()) add_danger(dangers, factor, divides);
    return;
  }
  if (divides && positive.empty() && e.kind() == Kind::Power && e.operands()[1].kind() == Kind::Constant) {
    return add_danger(dangers, e.operands()[0], divides);
  }
  const std::string text = print(e);
  for (Danger& known : dangers) {
    if (print(known.expression) != text) continue;
    known.divides = known.divides || divides;
    if (known.positive.empty()) known.positive = positive;
    if (known.unit.empty()) known.unit = unit;
    return;
  }
  dangers.push_back({e, divides, positive, unit});
}

std::vector<Danger> dangers_of(const Expression& formula) {
  std::vector<Danger> dangers;
  formula::visit_operands_first(formula, [&](const Expression& e) {
    if (e.kind() == Kind::Divide) add_danger(dangers, e.operands()[1], true);
    if (e.kind() == Kind::Power && e.operands()[1].kind() == Kind::Constant) {
      const double power = e.operands()[1].constant();
      if (power != std::round(power)) add_danger(dangers, e.operands()[0], power < 0, "root");
      if (power < 0) add_danger(dangers, e.operands()[0], true);
    }
    if (e.kind() != Kind::Call) return;
    if (e.name() == "sqrt") add_danger(dangers, e.operands()[0], false, "root");
    if (e.name() == "log") add_danger(dangers, e.operands()[0], true, "logarithm");
    if (e.name() == "asin") add_danger(dangers, e.operands()[0], false, {}, "arcsine");
    if (e.name() == "acos") add_danger(dangers, e.operands()[0], false, {}, "arccosine");
  });
  return dangers;
}

std::string place_of(const Expression& e, const Data& data, const double* point) {
  std::string text;
  for (const std::string& name : variables(e)) {
    text += fmt::format("{}{} = {:.4g}", text.empty() ? "" : ", ", name, point[data.position(name)]);
  }
  return text;
}

bool is_inside(const Box& box, const std::vector<double>& point, const std::vector<std::size_t>& columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [&](std::size_t i) { return point[i] >= box.low[i] && point[i] <= box.high[i]; });
}

// Where the expression changes its side between rows of the table that lie on the usual one and places beyond it: the
// crossing that is nearest to a row, by halving the way there. Columns are measured in halves of the box.
std::vector<double> nearest_crossing(const Expression& e, const Data& data, const Box& box,
                                     const std::vector<const double*>& here, const std::vector<const double*>& beyond,
                                     const std::vector<std::size_t>& used, const std::function<bool(double)>& usual) {
  constexpr std::size_t most = 600;
  const std::size_t rows = std::min(most, here.size()), places = std::min(most, beyond.size());
  double least = infinity;
  const double *from = here[0], *to = beyond[0];
  for (std::size_t r = 0; r < rows; ++r) {
    const double* row = here[r * here.size() / rows];
    for (std::size_t p = 0; p < places; ++p) {
      const double* place = beyond[p * beyond.size() / places];
      double distance = 0;
      for (const std::size_t i : used) {
        const double d = (row[i] - place[i]) / box.half(i);
        distance += d * d;
      }
      if (distance < least) least = distance, from = row, to = place;
    }
  }
  std::vector<double> a(from, from + data.inputs), b(to, to + data.inputs), middle(data.inputs);
  for (int halvings = 0; halvings < 60; ++halvings) {
    for (std::size_t i = 0; i < middle.size(); ++i) middle[i] = (a[i] + b[i]) / 2;
    (usual(values_on(e, data.columns, {middle.data()})[0]) ? a : b) = middle;
  }
  return b;
}

}  // namespace

std::vector<double> predictions(const Expression& formula, const Data& data) {
  return values_on(formula, data.columns, all_rows(data));
}

FitProbe probe(const Expression& formula, const Data& data, std::uint64_t seed) {
  const Box box = box_of(data);
  const std::vector<double> points = points_of(box, seed);
  const std::vector<const double*> rows = rows_in(points, data.inputs);
  FitProbe result;
  result.points = static_cast<int>(rows.size());
  for (const std::string& name : variables(formula)) {
    const std::size_t i = data.position(name);
    result.box.push_back({name, box.low[i], box.high[i], box.probed_low(i), box.probed_high(i)});
  }
  std::vector<bool> explained(rows.size(), false);
  for (const Danger& danger : dangers_of(formula)) {
    const std::vector<double> inside = values_on(danger.expression, data.columns, all_rows(data));
    const std::vector<double> wide = values_on(danger.expression, data.columns, rows);
    std::vector<std::size_t> used;
    for (const std::string& name : variables(danger.expression)) used.push_back(data.position(name));
    const auto negatives = std::count_if(inside.begin(), inside.end(), [](double v) { return v < 0; });
    const bool usual_sign = 2 * static_cast<std::size_t>(negatives) > inside.size();
    const auto usual = [&](double v) { return danger.has_bounds() ? danger.is_inside(v) : (v < 0) == usual_sign; };
    std::vector<const double*> here, beyond;
    for (std::size_t r = 0; r < inside.size(); ++r) (usual(inside[r]) ? here : beyond).push_back(data.row(r));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (usual(wide[k])) continue;
      beyond.push_back(rows[k]);
      if (danger.has_bounds()) explained[k] = true;
    }
    if (beyond.empty() || here.empty()) continue;
    const std::vector<double> at = nearest_crossing(danger.expression, data, box, here, beyond, used, usual);
    const std::string what = print(danger.expression), where = place_of(danger.expression, data, at.data());
    const char* place = is_inside(box, at, used) ? "inside the box of the data" : "outside of the data";
    const std::string happens = !danger.unit.empty() ? fmt::format("{} leaves [-1, 1] and has no {}", what, danger.unit)
                                : !danger.positive.empty()
                                    ? fmt::format("{} is negative and has no {}", what, danger.positive)
                                    : fmt::format("the denominator {} crosses zero", what);
    result.remarks.push_back(fmt::format("{} {}, first near {}", happens, place, where));
  }
  const std::vector<double> y = values_on(formula, data.columns, rows);
  std::size_t unexplained = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (std::isfinite(y[k])) continue;
    ++result.undefined;
    unexplained += explained[k] ? 0 : 1;
  }
  if (unexplained > 0)
    result.remarks.push_back(fmt::format("the value overflows at {} of {} points", unexplained, y.size()));
  return result;
}

namespace {

// Whether a part of it is infinite there.
bool overflows(const Expression& formula, std::span<const std::string> columns, std::span<const double> row) {
  bool infinite = false;
  formula::visit_operands_first(formula, [&](const Expression& e) {
    const Result<double> value = evaluate(e, columns, row);
    infinite = infinite || (value && std::isinf(*value));
  });
  return infinite;
}

}  // namespace

Result<double> verification_error(const Expression& formula, const Model& model, const Data& data, std::uint64_t seed,
                                  const Expression* with_all_terms) {
  const Result<Expression> read = parse_expression(print(formula));
  if (!read) return Error{"the printed formula cannot be read: " + read.error().message};
  const Box box = box_of(data);
  const std::vector<double> points = points_of(box, seed);
  double worst = 0;
  for (const std::vector<double>* x : {&data.x, &points}) {
    const Result<std::vector<double>> expected = predict(model, *x, Precision::Double);
    if (!expected) return expected.error();
    const std::vector<const double*> rows = rows_in(*x, data.inputs);
    const std::vector<double> found = values_on(*read, data.columns, rows);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      // Where the formula has no value (a pole, a root of something negative) there is nothing to compare.
      if (!std::isfinite(found[k])) continue;
      const double difference = std::fabs(found[k] - (*expected)[k]);
      // Where an exponential is next to nothing, that of the layers ends at the smallest normal number.
      if (difference <= std::max(1e-15 * std::fabs(found[k]), 1e-300)) continue;
      const Result<ScaledValue> scaled = evaluate_with_scale(with_all_terms ? *with_all_terms : *read, data.columns,
                                                             std::span<const double>(rows[k], data.inputs));
      if (!scaled) return scaled.error();
      // Nor where a part of it is too large for a number: a/(exp(b/c) - 1) is 0 then, and layers have 0 times infinity.
      if (std::isnan(difference) && overflows(*read, data.columns, {rows[k], data.inputs})) continue;
      const double relative = difference / scaled->scale;
      worst = std::isnan(relative) ? infinity : std::max(worst, relative);
    }
  }
  return worst;
}

}  // namespace nalm::fitting

std::vector<std::string> nalm::positive_columns(std::span<const FitProbe::Range> box) {
  std::vector<std::string> positive;
  for (const FitProbe::Range& range : box)
    if (range.low > 0) positive.push_back(range.column);
  return positive;
}
