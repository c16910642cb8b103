#include "train/start_values.hpp"

#include <algorithm>
#include <cmath>

#include "nalm/detail/portable.hpp"

namespace nalm {

double nac_range(int fan) {
  const double wanted = 2.0 / std::max(fan, 5);
  const auto variance = [](double r) { return (1 - portable::tanh(r) / r) * (r - portable::tanh(r / 2)) / (2 * r); };
  double lo = 1e-12, hi = 10;
  for (int k = 0; k < 200 && hi - lo > 1e-15 * hi; ++k) {
    const double middle = (lo + hi) / 2;
    (variance(middle) < wanted ? lo : hi) = middle;
  }
  return (lo + hi) / 2;
}

// Gram and Schmidt, on the rows or the columns of a matrix [row][column], whichever are fewer.
static void make_orthonormal(std::vector<double>& matrix, std::size_t rows, std::size_t columns) {
  const bool by_rows = rows <= columns;
  const std::size_t vectors = by_rows ? rows : columns, length = by_rows ? columns : rows;
  const auto entry = [&](std::size_t v, std::size_t k) -> double& {
    return by_rows ? matrix[v * columns + k] : matrix[k * columns + v];
  };
  for (std::size_t v = 0; v < vectors; ++v) {
    for (std::size_t u = 0; u < v; ++u) {
      double product = 0;
      for (std::size_t k = 0; k < length; ++k) product += entry(v, k) * entry(u, k);
      for (std::size_t k = 0; k < length; ++k) entry(v, k) -= product * entry(u, k);
    }
    double square = 0;
    for (std::size_t k = 0; k < length; ++k) square += entry(v, k) * entry(v, k);
    for (std::size_t k = 0; k < length; ++k) entry(v, k) /= std::sqrt(square);
  }
}

std::vector<double> start_values(const ModuleInfo& module, const LayerShape& shape, StartStream& stream,
                                 std::span<const StartChange> changes) {
  std::vector<double> values;
  const int fan = shape.inputs + shape.outputs;
  for (const ParameterInfo& parameter : module.parameters) {
    if (!is_present(parameter, shape)) continue;
    std::vector<double> tensor(static_cast<std::size_t>(size_of(module, parameter.axes, shape)));
    const auto symmetric = [&](double r) { stream.uniform(tensor, -r, r); };
    modules::Start start = parameter.start;
    double factor = 1;
    for (const StartChange& change : changes) {
      if (change.parameter != parameter.name) continue;
      if (change.kind == StartChange::Kind::Uniform) start = modules::Start::uniform(change.lo, change.hi);
      if (change.kind == StartChange::Kind::Normal) start = modules::Start::normal(change.lo, change.hi);
      if (change.kind == StartChange::Kind::Scaled) factor = change.lo;
    }
    switch (start.kind) {
      case modules::Start::Kind::Constant:
        std::fill(tensor.begin(), tensor.end(), start.a);
        break;
      case modules::Start::Kind::Uniform:
        stream.uniform(tensor, start.a, start.b);
        break;
      case modules::Start::Kind::Normal:
        stream.normal(tensor, start.a, start.b);
        break;
      case modules::Start::Kind::XavierUniform:
        symmetric(std::sqrt(6.0 / fan));
        break;
      case modules::Start::Kind::XavierNormal: {
        const std::vector<int> dims = dimensions(module, parameter, shape);
        const int rows_and_columns = dims.back() + (dims.size() > 1 ? dims[dims.size() - 2] : 1);
        stream.normal(tensor, 0, std::sqrt(2.0 / rows_and_columns));
        break;
      }
      case modules::Start::Kind::Nau:
        symmetric(std::min(0.5, std::sqrt(6.0 / fan)));
        break;
      case modules::Start::Kind::Orthogonal: {
        const std::vector<int> dims = dimensions(module, parameter, shape);
        const std::size_t columns = dims.size() > 1 ? static_cast<std::size_t>(dims.back()) : 1;
        stream.normal(tensor, 0, 1);
        make_orthonormal(tensor, tensor.size() / columns, columns);
        for (double& value : tensor) value = static_cast<double>(static_cast<float>(value));  // as all start values are
        break;
      }
      case modules::Start::Kind::Nac:
        symmetric(nac_range(fan));
        break;
    }
    if (factor != 1)
      for (double& value : tensor) value = static_cast<double>(static_cast<float>(value * factor));
    values.insert(values.end(), tensor.begin(), tensor.end());
  }
  return values;
}

}  // namespace nalm
