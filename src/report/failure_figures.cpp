// Two failures that gave reason to the units of the survey: networks that do not know the identity function, and a gate
// that contradicts itself.

#include "nalm/model.hpp"
#include "report/figure_panels.hpp"
#include "tasks/identity.hpp"

namespace nalm::figure {

Result<Json> identity() {
  constexpr int seeds = 8;  // a few seconds
  const std::vector<double> x = evenly(-20, 20, 81);
  // Once: a page asks for its data, and then for its title.
  static const Result<std::vector<IdentityCurve>> curves = identity_curves(x, seeds);
  if (!curves) return curves.error();
  const auto panel = [&](std::string_view title, const std::vector<std::string_view>& models) {
    std::vector<Series> series;
    for (const std::string_view model : models)
      for (const IdentityCurve& curve : *curves)
        if (curve.model == model) series.push_back({curve.model, curve.errors});
    return lines(title, "input x", x, "mean absolute error of y = x", series);
  };
  return Json{
      {"title", "The identity function outside of the training range"},
      {"caption",
       "Networks of three hidden layers with eight units each learn y = x on [-5, 5], after Trask et al. 2018. Drawn "
       "is the mean absolute error over the input, of 8 runs for each activation.\n\nInside all of them are right. "
       "Outside, those that end in a plateau stay where they were, so that their error grows as fast as x; those that "
       "are linear at last go on with a slope that only had to be right inside. Without an activation, and with units "
       "whose weights end at -1, 0 and 1, the error stays near 0. Mind the different scales. The task "
       "identity-function (nalm bench --task) measures the same with 100 runs."},
      {"panels",
       {panel("Activations with plateaus on both sides", {"sigmoid", "tanh", "hardtanh", "softsign", "ReLU6"}),
        panel("Activations that bend once", {"ReLU", "LeakyReLU", "PReLU", "ELU", "SELU", "softplus"}),
        panel("Activations that shrink, none, and units made for it",
              {"tanhshrink", "hardshrink", "softshrink", "none", "NAC+", "NAU"})}}};
}

namespace {

constexpr double saturated = 25;  // raw parameters whose weight is 1 to the last bit

// Sum or product of two inputs by exact weights: only the gate is left to decide which.
Model gated(std::string_view module_name, const std::vector<double>& gate, double raw = saturated) {
  const ModuleInfo& module = **find_module(module_name);
  std::vector<double> parameters(4, raw);
  parameters.insert(parameters.end(), gate.begin(), gate.end());
  return {{{&module, default_shape(module, 2, 1), parameters}}, {}};
}
double output(const Model& model, double t) { return (*predict(model, std::vector{t, t}, Precision::Double))[0]; }

// With weights of 0 the sum is 0 and the product 1, so that y = 1 - g.
std::vector<double> openings(std::string_view module, const std::vector<double>& gate,
                             const std::vector<double>& along) {
  const Model model = gated(module, gate, 0);
  std::vector<double> values;
  for (const double t : along) values.push_back(1 - output(model, t));
  return values;
}

}  // namespace

Json gate() {
  const Model weak = gated("NALU", {0.25, 0.25}), strong = gated("NALU", {2, 2}), alone = gated("NALUIG", {saturated});
  const auto over = [](const std::vector<double>& x, const std::function<double(double)>& f) {
    std::vector<double> values;
    for (const double at : x) values.push_back(f(at));
    return values;
  };
  const std::vector<double> t = evenly(-4, 4, 81), G = evenly(-2, 2, 161);
  // The mean squared error over the two rows (3, 3) and (-3, -3).
  const auto error = [](double weight, double plus, double minus) {
    const Model model = gated("NALU", {weight, weight});
    const double a = output(model, 3) - plus, b = output(model, -3) - minus;
    return (a * a + b * b) / 2;
  };
  return {
      {"title", "An input-dependent gate contradicts itself"},
      {"caption",
       "The NALU's gate is g = σ(G·x): 1 takes the sum, 0 the product. Because σ(-z) = 1 - σ(z), a gate that is open "
       "for x is shut for -x: with G = (2, 2) it is σ(8) = 0.9997 for x = (2, 2) and 0.0003 for (-2, -2). One "
       "function, the sum, is thus learned for one half of the inputs and unlearned for the other.\n\nHere the weights "
       "of sum and product are exact, and only the gate is left. At (2, 2) nothing shows, since 2 + 2 = 2·2; at (-2, "
       "-2) the NALU gives 4 and not -4. The last panel asks both rows (3, 3) and (-3, -3) of every G: there is none "
       "that makes the error 0, for the sum or for the product; a gate that does not look at the input (NALUIG, iNALU) "
       "has no such trouble."},
      {"panels",
       {lines("The gate along x = (t, t)", "t", t, "gate g",
              {{"NALU, G = (0.25, 0.25)", openings("NALU", {0.25, 0.25}, t)},
               {"NALU, G = (2, 2)", openings("NALU", {2, 2}, t)},
               {"a gate of its own", openings("NALUIG", {saturated}, t)}}),
        lines("What comes out of it, where the sum is wanted", "t", t, "output for x = (t, t)",
              {{"the sum 2t", over(t, [](double at) { return 2 * at; })},
               {"NALU, G = (2, 2)", over(t, [&](double at) { return output(strong, at); })},
               {"a gate of its own", over(t, [&](double at) { return output(alone, at); })}}),
        lines("The error over (3, 3) and (-3, -3)", "G, the same for both inputs", G, "mean squared error",
              {{"sum: 6 and -6", over(G, [&](double at) { return error(at, 6, -6); })},
               {"product: 9 and 9", over(G, [&](double at) { return error(at, 9, 9); })}})}}};
}

}  // namespace nalm::figure
