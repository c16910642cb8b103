// Every module as a layer of LibTorch.
#include <gtest/gtest.h>
#include <nalm/torch.hpp>

#include <cmath>
#include <sstream>
#include <thread>

namespace {

using nalm::TorchLayer;
using torch::Tensor;

std::vector<std::string> every_module() {
  std::vector<std::string> names;
  for (const nalm::ModuleInfo* module : nalm::all_modules()) names.emplace_back(module->name);
  return names;
}

TorchLayer made(const std::string& name) {
  torch::manual_seed(1);
  TorchLayer layer(name, 3, 2);
  layer->to(torch::kFloat64);
  layer->noise = false;
  return layer;
}

// Away from kinks; truth values lie between 0 and 1.
Tensor inputs_for(const TorchLayer& layer, int rows) {
  const bool truth = layer->spec().module->truth_values;
  return torch::rand({rows, 3}, torch::kFloat64) * (truth ? 0.6 : 1.0) + (truth ? 0.2 : 1.2);
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

class EveryModule : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Torch, EveryModule, testing::ValuesIn(every_module()),
                         [](const auto& info) { return std::to_string(info.index); });

TEST_P(EveryModule, HasTheGradientOfItsOutput) {
  TorchLayer layer = made(GetParam());
  {
    const torch::NoGradGuard guard;
    for (Tensor& p : layer->parameters()) p.uniform_(0.15, 0.45);
  }
  Tensor x = inputs_for(layer, 5).requires_grad_();
  const Tensor along = torch::rand({5, 2}, torch::kFloat64);
  const auto value = [&] { return (layer->forward(x) * along).sum(); };
  value().backward();
  std::vector<Tensor> variables = layer->parameters();
  variables.push_back(x);
  const torch::NoGradGuard guard;
  for (Tensor& v : variables) {
    Tensor flat = v.view(-1), gradient = v.grad().view(-1);
    for (std::int64_t k = 0; k < flat.numel(); ++k) {
      const double at = flat[k].item<double>(), step = 1e-6;
      flat[k] = at + step;
      const double above = value().item<double>();
      flat[k] = at - step;
      const double below = value().item<double>();
      flat[k] = at;
      const double expected = (above - below) / (2 * step);
      EXPECT_NEAR(gradient[k].item<double>(), expected, 1e-5 + 1e-4 * std::abs(expected)) << GetParam() << " at " << k;
    }
  }
}

TEST_P(EveryModule, EvaluatesAsTheLibraryDoes) {
  TorchLayer layer = made(GetParam());
  layer->eval();
  const Tensor x = inputs_for(layer, 37);
  const Tensor y = layer->forward(x).contiguous();
  const nalm::Model model = layer->to_model();
  const auto predicted =
      nalm::predict(model, {x.data_ptr<double>(), static_cast<std::size_t>(x.numel())}, nalm::Precision::Double);
  ASSERT_TRUE(predicted) << predicted.error().message;
  for (std::size_t k = 0; k < predicted->size(); ++k) {
    const double mine = y.data_ptr<double>()[k], theirs = (*predicted)[k];
    if (!(std::isnan(mine) && std::isnan(theirs))) {
      EXPECT_NEAR(mine, theirs, 1e-12 * std::abs(theirs)) << GetParam();
    }
  }
  TorchLayer again = made(GetParam());
  again->reset_parameters();
  again->from_model(model);
  again->eval();
  EXPECT_TRUE(torch::allclose(again->forward(x), y, 0, 0, true));
}

TEST(TorchLayer, IsSavedAndLoadedAsLibTorchDoes) {
  TorchLayer first("NALU", 3, 2), second("NALU", 3, 2);
  std::stringstream stream;
  torch::save(first, stream);
  torch::load(second, stream);
  const Tensor x = torch::rand({4, 3});
  EXPECT_TRUE(torch::equal(first->forward(x), second->forward(x)));
}

TEST(TorchLayer, TakesBatchesOfAnyShape) {
  TorchLayer layer("NAU", 3, 2);
  const Tensor x = torch::rand({4, 5, 3});
  const Tensor y = layer->forward(x);
  EXPECT_EQ(y.sizes(), (std::vector<std::int64_t>{4, 5, 2}));
  EXPECT_TRUE(torch::equal(layer->forward(x.transpose(0, 1)), y.transpose(0, 1)));
  EXPECT_EQ(layer->forward(torch::rand({0, 3})).size(0), 0);
}

TEST(TorchLayer, HasRegularisersAndBounds) {
  TorchLayer layer("NMU", 2, 1);
  {
    const torch::NoGradGuard guard;
    layer->parameters()[0].copy_(torch::tensor({{0.25f}, {1.5f}}).reshape(layer->parameters()[0].sizes()));
  }
  layer->clamp_();
  EXPECT_EQ(layer->parameters()[0].max().item<float>(), 1.0f);
  // The recipe's full strength, 10, times the mean of 0.25 and 0.
  EXPECT_FLOAT_EQ(layer->regularisation().item<float>(), 10 * 0.125f);
  EXPECT_EQ(layer->regularisation(0).item<float>(), 0);
  EXPECT_DOUBLE_EQ(layer->sparsity_error(), 0.25);
}

TEST(TorchLayer, SpellsItsFormula) {
  TorchLayer layer("NAU", 2, 1);
  {
    const torch::NoGradGuard guard;
    layer->parameters()[0].copy_(torch::tensor({1.0f, -1.0f}).reshape(layer->parameters()[0].sizes()));
  }
  EXPECT_EQ(layer->formula({"a", "b"}), std::vector<std::string>{"a - b"});
}

TEST(TorchLayer, SaysWhatDoesNotFit) {
  TorchLayer layer("NMU", 3, 2);
  EXPECT_NE(error_of([&] { layer->forward(torch::rand({4, 2})); }).find("must be 3"), std::string::npos);
  EXPECT_NE(error_of([&] { layer->forward(torch::rand({4, 3}, torch::kFloat64)); }).find("convert"), std::string::npos);
  EXPECT_NE(error_of([] { TorchLayer("NMX", 3, 2); }).find("NMX"), std::string::npos);
  EXPECT_NE(error_of([] { TorchLayer("NMU", 0, 2); }), "no error");
  const Tensor x = torch::rand({4, 3}).requires_grad_();
  const Tensor y = layer->forward(x).sum();
  EXPECT_NE(error_of([&] { torch::autograd::grad({y}, {x}, {}, true, true); }).find("no second derivative"),
            std::string::npos);
}

TEST(TorchLayer, WorksInSeveralThreads) {
  TorchLayer layer("NALU", 8, 4);
  const Tensor x = torch::rand({64, 8});
  const Tensor y = layer->forward(x);
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (int& e : equal)
    threads.emplace_back([&layer, &x, &y, &e] {
      for (int k = 0; k < 50; ++k) e += torch::equal(layer->forward(x), y);
    });
  for (std::thread& t : threads) t.join();
  for (const int e : equal) EXPECT_EQ(e, 50);
}

}  // namespace
