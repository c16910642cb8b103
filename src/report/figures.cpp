#include "report/figures.hpp"

#include <fmt/format.h>

#include <cmath>

#include "nalm/model.hpp"
#include "nalm/version.hpp"
#include "report/figure_panels.hpp"
#include "report/page.hpp"
#include "tasks/npu_gate_toy.hpp"

namespace nalm {

std::vector<double> figure::evenly(double lo, double hi, int count) {
  std::vector<double> values;
  // Rounded to what is meant: 0.1 + 0.2 should not end up in a tooltip.
  for (int k = 0; k < count; ++k) values.push_back(std::round(1e9 * (lo + (hi - lo) * k / (count - 1))) / 1e9);
  return values;
}

Json figure::lines(std::string_view title, std::string_view x_title, const std::vector<double>& x,
                   std::string_view y_title, const std::vector<Series>& series) {
  Json panel{{"kind", "lines"},
             {"title", title},
             {"x", {{"title", x_title}, {"values", x}}},
             {"y", {{"title", y_title}, {"log", false}}},
             {"series", Json::array()}};
  for (const Series& one : series) panel["series"].push_back({{"name", one.name}, {"values", one.values}});
  return panel;
}

namespace {

using figure::evenly;
// The values of functions.
Json lines(std::string_view title, std::string_view x_title, const std::vector<double>& x, std::string_view y_title,
           const std::vector<std::pair<std::string, std::function<double(double)>>>& functions) {
  std::vector<figure::Series> series;
  for (const auto& [name, f] : functions) {
    series.push_back({name, {}});
    for (const double at : x) series.back().values.push_back(f(at));
  }
  return figure::lines(title, x_title, x, y_title, series);
}

struct Axis2 {
  std::string_view title;
  std::vector<double> values;
};

Json surface(std::string_view title, const Axis2& x, const Axis2& y, std::string_view z_title, bool log,
             std::optional<double> limit, const std::function<double(double, double)>& f) {
  Json rows = Json::array();
  for (const double b : y.values) {
    Json row = Json::array();
    for (const double a : x.values) row.push_back(f(a, b));  // what is not finite becomes null
    rows.push_back(std::move(row));
  }
  return {{"kind", "surface"},
          {"title", title},
          {"x", {{"title", x.title}, {"values", x.values}}},
          {"y", {{"title", y.title}, {"values", y.values}}},
          {"z", {{"title", z_title}, {"log", log}, {"limit", limit ? Json(*limit) : Json()}}},
          {"values", std::move(rows)}};
}

// The same colours mean the same in all panels of a figure.
Json with_span(Json panel, double lo, double hi) {
  panel["z"]["span"] = {lo, hi};
  return panel;
}
// Points, or only words, on a surface.
Json with_marks(Json panel, Json marks) {
  panel["marks"] = std::move(marks);
  return panel;
}
Json solution_at(double x, double y) { return {{"x", x}, {"y", y}, {"label", "solution"}}; }

// ---- the figures ---------------------------------------------------------------------------------------------------

Json regularisers() {
  const Regulariser ramp = Regulariser::sparsity(1, 20000, 35000);
  return {
      {"title", "Regularisers"},
      {"caption",
       "What is added to the loss to drive weights to discrete values.\n\n"
       "NAU and NMU: the distance of a weight to the nearest of -1, 0 and 1 (NMU: 0 and 1), so that it is pushed to "
       "whichever is closer. iNALU: the distance of a raw parameter to 20 from below, which saturates its tanh or "
       "sigmoid. NAU's and NMU's regulariser is switched on gradually, from iteration 20,000 to 35,000 of 50,000; the "
       "strength is drawn in parts of its last value."},
      {"panels",
       {lines("NAU: sparsity", "weight, from -1 to 1", evenly(-1, 1, 81), "regulariser",
              {{"min(|w|, |1 - |w||)", [](double w) { return std::min(std::fabs(w), std::fabs(1 - std::fabs(w))); }}}),
        lines("NMU: sparsity", "weight, from 0 to 1", evenly(0, 1, 81), "regulariser",
              {{"min(|w|, |1 - w|)", [](double w) { return std::min(std::fabs(w), std::fabs(1 - w)); }}}),
        lines("iNALU: saturation", "raw parameter", evenly(-30, 30, 121), "regulariser",
              {{"max(20 - |p|, 0)", [](double p) { return std::max(20 - std::fabs(p), 0.0); }}}),
        lines("NAU, NMU: ramp of the strength", "iteration", evenly(0, 50000, 51), "strength",
              {{"clip((e - 20000)/(35000 - 20000), 0, 1)",
                [ramp](double e) { return ramp.coefficient(static_cast<long>(e)); }}})}}};
}

// The module's own effective weight of a single input.
double effective_weight(std::string_view module_name, double W_hat, double M_hat) {
  const ModuleInfo& module = **find_module(module_name);
  const LayerShape shape = default_shape(module, 1, 1);
  std::vector<double> parameters(static_cast<std::size_t>(parameter_count(module, shape)));
  parameters[0] = W_hat;
  parameters[1] = M_hat;
  const double input[] = {1.0};
  const auto layers = explain({{{&module, shape, parameters}}, {}}, input);
  return layers ? layers->front().weights.front().values.front() : std::nan("");
}

Json weights() {
  const auto panel = [](std::string_view module, std::string_view formula) {
    Json made = surface(fmt::format("{}: {}", module, formula), {"raw weight Ŵ", evenly(-10, 10, 81)},
                        {"raw weight M̂", evenly(-10, 10, 81)}, "effective weight W", false, {},
                        [module](double W_hat, double M_hat) { return effective_weight(module, W_hat, M_hat); });
    made["z"]["signed"] = true;
    const auto plateau = [](double x, double y, std::string_view label, bool light) {
      return Json{{"x", x}, {"y", y}, {"label", label}, {"point", false}, {"light", light}};
    };
    return with_marks(with_span(std::move(made), -1, 1),
                      {plateau(7, 7, "+1", true), plateau(-7, 7, "\u22121", true), plateau(0, -7, "0", false)});
  };
  return {
      {"title", "Effective weights of NALU and G-NALU"},
      {"caption",
       "Two raw parameters make one weight. The plateaus at -1, 0 and 1 are where training should end up; there the "
       "gradient vanishes. With the golden ratio as base (G-NALU) the slopes are gentler and the plateaus are "
       "reached later.\n\nTraining starts with raw parameters drawn evenly from -9.47 to 9.47, so that many start "
       "on a plateau."},
      {"panels", {panel("NALU", "tanh(Ŵ)·σ(M̂)"), panel("G-NALU", "the same in base φ")}}};
}

Json singularity() {
  constexpr double epsilon = 0.1;
  constexpr double x[] = {1, 1.2, 1.8, 2};
  constexpr double part = x[0] + x[1], all = x[0] + x[1] + x[2] + x[3], target = part * all;
  const Axis2 w1{"weights of the first layer, w₁", evenly(-1.5, 1.5, 181)};
  const Axis2 w2{"weights of the second layer, w₂", evenly(-1.5, 1.5, 181)};
  // On the curves of exact solutions the error is 0, whose logarithm would take all colours.
  constexpr double floor = 0.5;
  const auto nac = [=](double a, double b) {
    return std::max(
        floor,
        std::fabs(std::pow(std::fabs(a * part) + epsilon, b) * std::pow(std::fabs(a * all) + epsilon, b) - target));
  };
  const auto nmu = [=](double a, double b) {
    return std::max(floor, std::fabs((b * (a * part) + 1 - b) * (b * (a * all) + 1 - b) - target));
  };
  // Two minus signs cancel, in magnitudes and in products.
  const Json solutions{solution_at(1, 1), solution_at(-1, 1)};
  return {
      {"title", "The singularity of a stacked NAC₊ and NAC•"},
      {"caption",
       "Error of a two-layer network that should compute (x₁ + x₂)·(x₁ + x₂ + x₃ + x₄) at x = (1, 1.2, 1.8, 2), over "
       "the weights of its layers: W₁ = [[w₁,w₁,0,0],[w₁,w₁,w₁,w₁]], W₂ = [w₂,w₂]. The solutions are w₁ = ±1, "
       "w₂ = 1.\n\nNAC₊ followed by NAC• with ε = 0.1: near w₁ = 0 and with negative w₂ the product divides by almost "
       "nothing, and the error explodes. The NMU has no such place. Errors above 1000 are drawn as 1000, below 0.5 as "
       "0.5."},
      {"panels",
       {with_marks(with_span(surface("NAC₊ → NAC•, ε = 0.1", w1, w2, "root mean squared error", true, 1000.0, nac),
                             floor, 1000),
                   solutions),
        with_marks(with_span(surface("NAC₊ → NMU", w1, w2, "root mean squared error", true, 1000.0, nmu), floor, 1000),
                   solutions)}}};
}

Json npu_gate() {
  const Axis2 w1{"power of x₁, w₁", evenly(-1, 2.5, 71)};
  const Axis2 w2{"power of x₂, w₂", evenly(-0.2, 1, 49)};
  const auto panel = [&](std::string_view title, const ToyGate& gate) {
    return with_marks(
        with_span(surface(title, w1, w2, "norm of the gradient", false, 2.5,
                          [&gate](double a, double b) { return gate_toy_loss(gate, a, b, 10).gradient_norm; }),
                  0, 2.5),
        {solution_at(1, 0)});
  };
  return {
      {"title", "The gate of the NPU"},
      {"caption",
       "One unit y = r₁^w₁·r₂^w₂ should learn f(x₁, x₂) = x₁, with x₁ from 0 to 2 and x₂ from 0 to 0.05; the solution "
       "is w₁ = 1, w₂ = 0. Drawn is the norm of the gradient of the mean squared error with respect to w₁ and "
       "w₂.\n\nWithout a gate the surface is nearly flat where w₂ is large: the product with the small x₂ hides "
       "x₁. With the gate shut on x₂, w₂ no longer matters, and w₁ is learnt from anywhere. Norms above 2.5 are "
       "drawn as 2.5."},
      {"panels",
       {panel("gates (1, 1): the NaiveNPU", {1, 1}), panel("gates (0.5, 0.5)", {0.5, 0.5}),
        panel("gates (1, 0)", {1, 0})}}};
}

// Most of them cannot fail.
template <Json (*data)()>
Result<Json> always() {
  return data();
}

struct Figure {
  FigureInfo info;
  Result<Json> (*data)() = nullptr;
};
constexpr Figure all_figures[] = {
    {{"regularisers", "the regularisers of NAU and NMU and of iNALU, and the ramp of their strength"},
     always<regularisers>},
    {{"weights", "effective weights of NALU and G-NALU over their raw parameters"}, always<weights>},
    {{"singularity", "loss surface of a stacked NAC+ and NAC* with its singularity, and the same with NMU"},
     always<singularity>},
    {{"npu-gate",
      "gradients of the NPU's toy example: without gate, half open, and shut on the input that is not needed"},
     always<npu_gate>},
    {{"identity", "the error of the identity function over the input, for 14 activations: trains them, a few seconds"},
     figure::identity},
    {{"gate", "an input-dependent gate that contradicts itself for x and -x"}, always<figure::gate>},
};

}  // namespace

std::span<const FigureInfo> figures() {
  static const std::vector<FigureInfo> infos = [] {
    std::vector<FigureInfo> list;
    for (const Figure& figure : all_figures) list.push_back(figure.info);
    return list;
  }();
  return infos;
}

Result<std::string> figure_data(std::string_view name) {
  std::string known;
  for (const Figure& figure : all_figures) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", figure.info.name);
    if (figure.info.name != name) continue;
    Result<Json> made = figure.data();
    if (!made) return made.error();
    Json& data = *made;
    data["version"] = fmt::format("nalm {}", version());
    data["command"] = fmt::format("nalm figure {}", name);
    return data.dump();
  }
  return Error{fmt::format("there is no figure \"{}\"; the figures are {}.", name, known)};
}

Result<std::string> figure_page(std::string_view name) {
  const Result<std::string> data = figure_data(name);
  if (!data) return data.error();
  return make_page(Json::parse(*data)["title"].get<std::string>(), assets::page_figure, *data);
}

}  // namespace nalm
