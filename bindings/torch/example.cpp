// NAU and NMU inside a network of LibTorch: they learn (x1 + x2)*(x3 + x4) from numbers between 1 and 2, and the
// weights are the formula, so that it holds for any numbers.
#include <nalm/torch.hpp>

#include <iostream>

int main() {
  torch::manual_seed(3);
  nalm::TorchLayer sums("NAU", 4, 2), product("NMU", 2, 1);
  torch::nn::Sequential network(sums, product);
  torch::optim::Adam optimiser(network->parameters(), 1e-2);

  const auto truth = [](const torch::Tensor& x) {
    return (x.narrow(1, 0, 2).sum(1) * x.narrow(1, 2, 2).sum(1)).unsqueeze(1);
  };
  const int steps = 6000;
  for (int step = 0; step < steps; ++step) {
    const torch::Tensor x = torch::rand({128, 4}) * 3 - 1;
    optimiser.zero_grad();
    // The modules' own habits, on a shorter schedule: their regularisers pull the weights to whole numbers once the
    // error is small.
    const torch::Tensor pull = step < steps / 2 ? torch::zeros({}) : sums->regularisation() + product->regularisation();
    (torch::mse_loss(network->forward(x), truth(x)) + pull).backward();
    optimiser.step();
    sums->clamp_();
    product->clamp_();
  }

  nalm::Model model = sums->to_model();
  model.layers.push_back(product->to_model().layers.at(0));
  const auto formula = nalm::ideal_formula(model, model.column_names());
  if (!formula) {
    std::cerr << formula.error().message << '\n';
    return 1;
  }
  std::cout << "y = " << nalm::print(formula->outputs.at(0)) << '\n';
  // Training leaves weights beside whole numbers by a little; the formula has them there.
  const auto exact = nalm::rounded(model);
  if (!exact) {
    std::cerr << exact.error().message << '\n';
    return 1;
  }
  sums->from_model(*exact, 0);
  product->from_model(*exact, 1);
  const torch::Tensor far = torch::tensor({{1000.0f, 2000.0f, 30.0f, 4.0f}});
  std::cout << "at 1000, 2000, 30, 4: " << network->forward(far).item<float>() << ", and it is "
            << truth(far).item<float>() << '\n';
}
