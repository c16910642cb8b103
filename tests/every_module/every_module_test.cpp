// What must hold for every module of the registry, at every shape.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "every_module/cases.hpp"
#include "nalm/check.hpp"
#include "train/network.hpp"

namespace nalm::every_module_test {
namespace {

using test::ShapeCase;

// All NaNs are alike.
std::uint64_t bits(double value) { return std::isnan(value) ? 0x7ff8u : std::bit_cast<std::uint64_t>(value); }

template <class S>
std::vector<double> predict_on(const simd::Target& target, const Model& model, const std::vector<double>& rows,
                               int lane) {
  // The model in one lane, other start values in the others.
  Network<S> network(model.stack(), target);
  Xoshiro other(99);
  for (int l = 0; l < network.lanes(); ++l) {
    for (int k = 0; k < network.layer_count(); ++k) {
      const Layer& layer = model.layers[static_cast<std::size_t>(k)];
      network.set_parameters(l, k, l == lane ? layer.parameters : start_values(*layer.module, layer.shape, other));
    }
  }
  network.update_weights();
  const std::size_t lanes = static_cast<std::size_t>(network.lanes());
  const std::size_t samples = rows.size() / static_cast<std::size_t>(model.inputs());
  AlignedVector<S> x(rows.size() * lanes), y(samples * static_cast<std::size_t>(model.outputs()) * lanes);
  for (std::size_t k = 0; k < x.size(); ++k) {
    x[k] = static_cast<S>(k % lanes == static_cast<std::size_t>(lane) ? rows[k / lanes] : other.between(-3, 3));
  }
  network.predict(x.data(), y.data(), static_cast<int>(samples));
  std::vector<double> result;
  for (std::size_t k = static_cast<std::size_t>(lane); k < y.size(); k += lanes) result.push_back(y[k]);
  return result;
}

TEST(EveryModule, BackwardAgreesWithDifferences) {
  for (const ModuleInfo* module : test::tested_modules()) {
    CheckSettings settings;
    settings.inputs.assign(std::begin(test::inputs_to_try), std::end(test::inputs_to_try));
    settings.outputs.assign(std::begin(test::outputs_to_try), std::end(test::outputs_to_try));
    settings.cases = 30;
    for (std::uint64_t seed : {1u, 2u}) {
      settings.seed = seed;
      const ModuleCheck result = *check_gradients(*module, settings);
      EXPECT_TRUE(result.passed) << module->name << " seed " << seed;
      for (const CheckedGradient& g : result.gradients) {
        EXPECT_LE(g.worst_error, 1e-6) << module->name << " " << g.name << " seed " << seed << ": " << g.worst_place;
        EXPECT_GT(g.compared, 0) << module->name << " " << g.name;
      }
    }
  }
}

template <class S>
void expect_same_bits_everywhere() {
  Xoshiro random(11);
  const Result<const simd::Target*> scalar = simd::find_target("scalar");
  ASSERT_TRUE(scalar.ok());
  for (const ShapeCase& c : test::all_shapes()) {
    const Model model = test::model_of(test::random_layer(c, random));
    const std::vector<double> rows = test::random_rows(*c.module, c.shape.inputs, 3, random);
    const std::vector<double> expected = predict_on<S>(**scalar, model, rows, 0);
    for (const simd::Target& target : simd::targets()) {
      if (!target.supported) continue;
      for (int lane : {0, target.lanes<S>() - 1}) {
        const std::vector<double> y = predict_on<S>(target, model, rows, lane);
        for (std::size_t k = 0; k < y.size(); ++k) {
          ASSERT_EQ(bits(y[k]), bits(expected[k])) << test::name_of(c) << " on " << target.name << " lane " << lane;
        }
      }
    }
  }
}

TEST(EveryModule, EveryLaneOfEveryTargetGivesTheBitsOfOneLaneInFloat) { expect_same_bits_everywhere<float>(); }
TEST(EveryModule, EveryLaneOfEveryTargetGivesTheBitsOfOneLaneInDouble) { expect_same_bits_everywhere<double>(); }

TEST(EveryModule, PredictsTheSameBitsAfterSavingAndLoading) {
  Xoshiro random(12);
  const std::string path = (std::filesystem::temp_directory_path() / "nalm_every_module_test.json").string();
  for (const ShapeCase& c : test::all_shapes()) {
    const Model model = test::model_of(test::random_layer(c, random));
    const Status saved = save_model(model, path);
    ASSERT_TRUE(saved.ok()) << saved.error().message;
    const Result<Model> loaded = load_model(path);
    ASSERT_TRUE(loaded.ok()) << test::name_of(c) << ": " << loaded.error().message;
    EXPECT_EQ(loaded->layers[0].shape, c.shape);
    const std::vector<double> rows = test::random_rows(*c.module, c.shape.inputs, 5, random);
    for (Precision precision : {Precision::Float, Precision::Double}) {
      const auto before = predict(model, rows, precision), after = predict(*loaded, rows, precision);
      ASSERT_TRUE(before.ok() && after.ok());
      for (std::size_t k = 0; k < before->size(); ++k)
        ASSERT_EQ(bits((*before)[k]), bits((*after)[k])) << test::name_of(c);
    }
  }
  std::filesystem::remove(path);
}

// Prints, parses and evaluates a formula on rows; checks it against the model's predictions in double.
void expect_formula_is_model(const Model& model, const Formula& formula, const std::vector<double>& rows,
                             double tolerance, const std::string& what) {
  const std::vector<std::string> names = model.column_names();
  const auto y = predict(model, rows, Precision::Double);
  ASSERT_TRUE(y.ok());
  const std::size_t inputs = names.size(), outputs = formula.outputs.size();
  for (std::size_t o = 0; o < outputs; ++o) {
    const Result<Expression> parsed = parse_expression(print(formula.outputs[o]));
    ASSERT_TRUE(parsed.ok()) << what << ": " << parsed.error().message;
    for (std::size_t row = 0; row * inputs < rows.size(); ++row) {
      const std::span<const double> x(rows.data() + row * inputs, inputs);
      const Result<ScaledValue> value = evaluate_with_scale(*parsed, names, x);
      ASSERT_TRUE(value.ok()) << what << ": " << value.error().message;
      const double wanted = (*y)[row * outputs + o];
      const double scale = std::isfinite(value->scale) ? std::max(value->scale, std::fabs(wanted)) : std::fabs(wanted);
      ASSERT_NEAR(value->value, wanted, tolerance * scale + 1e-300)
          << what << ", output " << o + 1 << ", row " << row << ": " << print(formula.outputs[o]).substr(0, 300);
    }
  }
}

TEST(EveryModule, TheLiteralFormulaIsTheModel) {
  Xoshiro random(13);
  for (const ShapeCase& c : test::all_shapes()) {
    for (const bool discrete : {false, true}) {
      const Model model = test::model_of(discrete ? test::discrete_layer(c, random) : test::random_layer(c, random));
      const std::vector<double> rows = test::random_rows(*c.module, c.shape.inputs, 4, random);
      expect_formula_is_model(model, *literal_formula(model, {}), rows, 1e-12, test::name_of(c));
    }
  }
}

TEST(EveryModule, TheIdealFormulaOfDiscreteWeightsIsTheModelUpToItsEpsilon) {
  Xoshiro random(14);
  for (const ShapeCase& c : test::all_shapes()) {
    const Model model = test::model_of(test::discrete_layer(c, random));
    const std::vector<double> rows = test::random_rows(*c.module, c.shape.inputs, 4, random);
    const Formula formula = *ideal_formula(model, {});
    // A softmax over tied inputs is the only weight that discrete_layer cannot make discrete.
    EXPECT_TRUE(formula.discrete) << test::name_of(c) << ": " << (formula.notes.empty() ? "" : formula.notes[0]);
    // Epsilons of 1e-7 beside magnitudes of about 1, once per input.
    expect_formula_is_model(model, formula, rows, 1e-6 * c.shape.inputs, test::name_of(c));
  }
}

// As a training leaves them: near where they should end, and far out but not as far as can be.
Layer as_trained(Layer layer, Xoshiro& random) {
  std::size_t k = 0;
  for (const ParameterInfo& info : layer.module->parameters) {
    if (!is_present(info, layer.shape)) continue;
    for (int n = size_of(*layer.module, info.axes, layer.shape); n > 0; --n, ++k) {
      double& p = layer.parameters[k];
      if (info.end == End::Anywhere) continue;
      p = (std::fabs(p) == 2000 ? p * random.between(0.015, 0.02) : p + random.between(-4e-4, 4e-4));
      if (info.clamp) p = std::clamp(p, info.clamp->lo, info.clamp->hi);
    }
  }
  return layer;
}

TEST(EveryModule, RoundedIsWhatTheFormulaSays) {
  Xoshiro random(21);
  for (const ShapeCase& c : test::all_shapes()) {
    const Layer exact = test::discrete_layer(c, random);
    const Model trained = test::model_of(as_trained(exact, random));
    const Result<Model> model = rounded(trained);
    ASSERT_TRUE(model.ok()) << test::name_of(c) << ": " << model.error().message;
    // Gates that depend on the input stand in the formula with the numbers that they have.
    for (std::size_t k = 0; k < exact.parameters.size(); ++k) {
      const double p = model->layers[0].parameters[k];
      EXPECT_TRUE(p == exact.parameters[k] || p == trained.layers[0].parameters[k]) << test::name_of(c);
    }
    const std::vector<double> rows = test::random_rows(*c.module, c.shape.inputs, 4, random);
    expect_formula_is_model(*model, *ideal_formula(trained, {}), rows, 1e-6 * c.shape.inputs, test::name_of(c));
  }
}

TEST(EveryModule, GradientsOfInputsAreDifferences) {
  Xoshiro random(22);
  for (const ModuleInfo* module : test::tested_modules()) {
    const ShapeCase c{module, default_shape(*module, 3, 2)};
    const Model model = test::model_of(test::random_layer(c, random));
    std::vector<double> rows = test::random_rows(*module, 3, 5, random), targets(10, 0.5);
    const auto gradient = gradients(model, rows, targets, Precision::Double);
    ASSERT_TRUE(gradient.ok());
    ASSERT_EQ(gradient->inputs.size(), rows.size());
    // NaN where the differences are, too; modules that train in another form have gradients of that one.
    if (!module->training_form.empty()) continue;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double step = 1e-6, x = rows[k];
      rows[k] = x + step;
      const double above = gradients(model, rows, targets, Precision::Double)->mse;
      rows[k] = x - step;
      const double below = gradients(model, rows, targets, Precision::Double)->mse;
      rows[k] = x;
      const double difference = (above - below) / (2 * step);
      EXPECT_NEAR(gradient->inputs[k], difference, 1e-5 * (1 + std::fabs(difference))) << module->name << " " << k;
    }
  }
}

TEST(EveryModule, SaysSoWhenWeightsAreNotDiscrete) {
  Xoshiro random(15);
  for (const ModuleInfo* module : test::tested_modules()) {
    if (std::ranges::all_of(module->weights, [](const Quantity& q) { return q.discrete.is_any(); })) continue;
    const ShapeCase c{module, default_shape(*module, 3, 2)};
    // Weights that are frozen (DMU-add, DMU-sub) are discrete whatever the parameters are.
    if (std::ranges::any_of(module->parameters, [&](const ParameterInfo& p) {
          return !is_present(p, c.shape) &&
                 std::ranges::any_of(module->weights, [&](const Quantity& q) { return q.name == p.name; });
        }))
      continue;
    Layer layer = test::random_layer(c, random);
    for (double& p : layer.parameters) p = random.between(0.2, 0.4);
    const Formula formula = *ideal_formula(test::model_of(layer), {});
    EXPECT_FALSE(formula.discrete) << module->name;
    EXPECT_FALSE(formula.notes.empty()) << module->name;
  }
}

TEST(EveryModule, UnusualInputsNeverCrashAndDoNotReachOtherLanes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double unusual[] = {0.0,   -0.0,  infinity, -infinity, std::nan(""), 1e30,
                            -1e30, 1e-40, 4.9e-324, -1e-310,   3e38,         1e308};
  Xoshiro random(16);
  for (const ShapeCase& c : test::all_shapes()) {
    const Model model = test::model_of(test::random_layer(c, random));
    std::vector<double> rows;
    for (double value : unusual) {
      for (int i = 0; i < c.shape.inputs; ++i) rows.push_back(i % 2 == 0 ? value : 0.5);
    }
    for (Precision precision : {Precision::Float, Precision::Double}) {
      const auto y = predict(model, rows, precision);
      ASSERT_TRUE(y.ok());
      // The row of NaN says so.
      const std::size_t outputs = static_cast<std::size_t>(c.shape.outputs);
      if (c.shape.inputs > 1 || c.module->path_option < 0) {
        EXPECT_TRUE(std::isnan((*y)[4 * outputs])) << test::name_of(c) << " hides NaN";
      }
      const std::vector<double> targets(y->size(), 1.0);
      ASSERT_TRUE(gradients(model, rows, targets, precision).ok());
    }
    const std::vector<double> one(rows.begin(), rows.begin() + c.shape.inputs);
    ASSERT_TRUE(explain(model, one).ok());
  }
}

TEST(EveryModule, PreparesTheSameBitsOfInputsThatAreKnownToBeFinite) {
  constexpr float largest = std::numeric_limits<float>::max(), normal = std::numeric_limits<float>::min();
  Xoshiro random(23);
  for (const ModuleInfo* module : test::tested_modules()) {
    for (const simd::Target& target : simd::targets()) {
      if (!target.supported) continue;
      const Network<float> network({{module, default_shape(*module, 3, module->outputs_multiple_of)}}, target);
      if (!network.has_prepared()) continue;
      constexpr std::size_t samples = 37;
      AlignedVector<float> x(samples * 3 * static_cast<std::size_t>(network.lanes())), any(x.size()), finite(x.size());
      for (float& value : x) value = static_cast<float>(random.between(-1, 1) * std::exp(random.between(-100, 88)));
      for (std::size_t k = 0; const float value : {0.0f, -0.0f, normal, -normal / 4, largest, -largest, 1.0f}) {
        x[k] = value;
        k += 5;
      }
      network.prepare(x.data(), any.data(), samples);
      network.prepare(x.data(), finite.data(), samples, true);
      for (std::size_t k = 0; k < x.size(); ++k)
        ASSERT_EQ(bits(any[k]), bits(finite[k])) << module->name << " on " << target.name << " of " << x[k];
    }
  }
}

TEST(EveryModule, OneFusedPassLearnsWhatALayerInAStackLearns) {
  // A single layer is trained by one fused kernel, a stack layer by layer; their gradients agree up to the order of
  // sums.
  Xoshiro random(17);
  for (const ShapeCase& c : test::all_shapes()) {
    if (c.shape.inputs > 10) continue;
    Model single = test::model_of(test::random_layer(c, random));
    Model stacked = single;
    const Result<Stack> identity = parse_stack("NAU:" + std::to_string(c.shape.inputs), c.shape.inputs);
    Layer below{identity->front().module, identity->front().shape, {}};
    for (int i = 0; i < c.shape.inputs; ++i) {
      for (int j = 0; j < c.shape.inputs; ++j) below.parameters.push_back(i == j ? 1 : 0);
    }
    stacked.layers.insert(stacked.layers.begin(), below);
    const std::vector<double> rows = test::random_rows(*c.module, c.shape.inputs, 37, random);
    std::vector<double> targets;
    for (int k = 0; k < 37 * c.shape.outputs; ++k) targets.push_back(random.between(0, 1));
    const auto a = gradients(single, rows, targets, Precision::Double);
    const auto b = gradients(stacked, rows, targets, Precision::Double);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_NEAR(a->mse, b->mse, 1e-12 * a->mse) << test::name_of(c);
    double largest = 0;
    for (double g : a->layers[0]) largest = std::max(largest, std::fabs(g));
    for (std::size_t k = 0; k < a->layers[0].size(); ++k) {
      ASSERT_NEAR(a->layers[0][k], b->layers[1][k], 1e-12 * largest) << test::name_of(c);
    }
  }
}

TEST(Registry, EveryModuleIsDocumentedAndTested) {
  std::set<std::string_view> names;
  for (const ModuleInfo* m : test::tested_modules()) {
    EXPECT_TRUE(names.insert(m->name).second) << m->name << " is listed twice";
    for (std::string_view text : {m->name, m->title, m->citation, m->formula, m->learned, m->unusual_inputs}) {
      EXPECT_FALSE(text.empty()) << m->name;
    }
    EXPECT_FALSE(m->differences.empty()) << m->name;
    EXPECT_FALSE(m->parameters.empty()) << m->name;
    EXPECT_NE(m->recipe, nullptr) << m->name;
    for (const ParameterInfo& p : m->parameters) {
      EXPECT_FALSE(p.meaning.empty()) << m->name << " " << p.name;
      EXPECT_TRUE(p.condition.option < static_cast<int>(m->options.size())) << m->name << " " << p.name;
    }
    for (const Quantity& q : m->weights) {
      EXPECT_TRUE(!is_weight(q.role) || !q.discrete.is_any()) << m->name << " " << q.name;
      EXPECT_TRUE(q.role == Role::Gate || q.counts_as_sparse == is_weight(q.role)) << m->name << " " << q.name;
    }
    EXPECT_LE(m->options.size(), static_cast<std::size_t>(max_options)) << m->name;
    const Result<const ModuleInfo*> found = find_module(m->name);
    ASSERT_TRUE(found.ok()) << m->name;
    EXPECT_EQ(*found, m);
  }
}

TEST(Registry, EveryHeaderHasALineAndATest) {
  const std::filesystem::path root = NALM_SOURCE_DIR;
  // Parts that modules share, and the template.
  const std::set<std::string> not_modules = {"mathematics", "nac_weights", "skeleton"};
  std::set<std::string> listed;
  std::size_t modules = 0;
  std::ifstream list(root / "include/nalm/modules/modules.list");
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line[0] == '#') continue;
    listed.insert(line.substr(0, line.find('.')));
    ++modules;
  }
  // The example module is a module more, and has no line there.
  EXPECT_TRUE(all_modules().size() == modules || all_modules().size() == modules + 1);
  std::set<std::string> headers;
  for (const auto& file : std::filesystem::directory_iterator(root / "include/nalm/modules")) {
    const std::string name = file.path().stem().string();
    if (file.path().extension() != ".hpp" || not_modules.contains(name)) continue;
    headers.insert(name);
    EXPECT_TRUE(std::filesystem::exists(root / "tests/modules" / (name + "_test.cpp"))) << name << " has no test";
  }
  EXPECT_EQ(headers, listed) << "a header without a line in modules.list, or the other way round";
}

}  // namespace
}  // namespace nalm::every_module_test
