#include "fit/rung_stack.hpp"

#include <algorithm>
#include <cmath>

#include "fit/form_algebra.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

using RungKind = Rung::Kind;

constexpr double largest_power = 6, largest_power_of_sums = 4;

// Outputs of the layers in the order of the stack: NRU-power and Linear by turns.
struct Sizes {
  std::size_t products, sums;
  bool outer;  // a last NRU-power:1
};

Sizes sizes_of(const Rung& rung) {
  const auto K = static_cast<std::size_t>(std::max(1, rung.terms + rung.below));
  if (rung.kind == RungKind::Ratio) return {K, 2, true};
  if (rung.kind == RungKind::Factor) return {K + 4, 3, true};
  return {K, 1, rung.kind == RungKind::Power};
}

double rounded(double power, Powers allowed, bool whole) {
  if (allowed == Powers::Integer || whole) return std::round(power);
  const double half = std::round(2 * power) / 2;
  if (allowed == Powers::Half || std::fabs(half - power) < 0.02) return half;
  return std::round(power * 1e4) / 1e4;
}

std::optional<Form> nested_form(const Rung& rung, const double* next, const Data& data, Powers allowed) {
  const std::size_t I = data.inputs, J = static_cast<std::size_t>(rung.inner);
  Form form;
  form.sums.resize(J);
  for (std::size_t i = 0; i < I; ++i) {
    for (InnerSum& sum : form.sums) {
      sum.terms.push_back({{*next++ / data.x_scale[i], true}, power_of_column(I, i, 1)});
    }
  }
  for (InnerSum& sum : form.sums) sum.terms.push_back({{*next++, true}, PowerList(I, 0.0)});
  form.products.assign(static_cast<std::size_t>(rung.terms), {{}, PowerList(I, 0.0), {}});
  for (std::size_t j = 0; j < J; ++j) {
    for (Product& product : form.products) {
      const double power = rounded(*next++, allowed, false);
      if (std::fabs(power) > largest_power_of_sums) return std::nullopt;
      if (power != 0) product.sums.push_back({j, power});
    }
  }
  form.products.push_back({{}, PowerList(I, 0.0), {}});
  for (Product& product : form.products) product.coefficient.value = *next++ * data.y_scale;
  // Weights that are nothing but rounding.
  for (InnerSum& sum : form.sums) {
    const auto size = [&](std::size_t t) {
      return std::fabs(sum.terms[t].coefficient.value) * (t < I ? data.x_scale[t] : 1);
    };
    double largest = 0;
    for (std::size_t t = 0; t < sum.terms.size(); ++t) largest = std::max(largest, size(t));
    for (std::size_t t = 0; t < sum.terms.size(); ++t) {
      if (size(t) < 1e-6 * largest) sum.terms[t].coefficient.value = 0;
    }
  }
  return form;
}

std::optional<Form> product_form(const Rung& rung, const double* next, const Data& data, Powers allowed) {
  const std::size_t I = data.inputs;
  const Sizes sizes = sizes_of(rung);
  std::vector<PowerList> products(sizes.products, PowerList(I, 0.0));
  std::vector<double> scale(sizes.products, 1.0);
  for (std::size_t i = 0; i < I; ++i) {
    for (std::size_t k = 0; k < sizes.products; ++k) {
      products[k][i] = rounded(*next++, allowed, data.negative[i]);
      if (std::fabs(products[k][i]) > largest_power) return std::nullopt;
      scale[k] *= portable::pow(data.x_scale[i], -products[k][i]);
    }
  }
  Form form;
  form.sums.resize(sizes.sums);
  for (std::size_t k = 0; k < sizes.products; ++k) {
    for (InnerSum& sum : form.sums) sum.terms.push_back({{*next++ * scale[k], true}, products[k]});
  }
  for (InnerSum& sum : form.sums) sum.terms.push_back({{*next++, true}, PowerList(I, 0.0)});
  form.products.push_back({{data.y_scale, true}, PowerList(I, 0.0), {}});
  for (std::size_t s = 0; s < sizes.sums; ++s) {
    form.products[0].sums.push_back({s, sizes.outer ? rounded(*next++, allowed, false) : 1.0});
  }
  return form;
}

}  // namespace

Stack stack_of(const Rung& rung, std::size_t columns) {
  Stack stack;
  std::size_t inputs = columns;
  const auto add = [&](const char* module, std::size_t outputs) {
    const ModuleInfo* info = *find_module(module);
    stack.push_back({info, default_shape(*info, static_cast<int>(inputs), static_cast<int>(outputs))});
    inputs = outputs;
  };
  if (rung.kind == RungKind::Nested) {
    add("Linear", static_cast<std::size_t>(rung.inner));
    add("NRU-power", static_cast<std::size_t>(rung.terms));
    add("Linear", 1);
    return stack;
  }
  const Sizes sizes = sizes_of(rung);
  add("NRU-power", sizes.products);
  add("Linear", sizes.sums);
  if (sizes.outer) add("NRU-power", 1);
  return stack;
}

void Run::add(double value, bool power, bool is_free) {
  parameters.push_back(value);
  is_power.push_back(power);
  free.push_back(is_free);
}

std::vector<std::uint8_t> Run::free_numbers() const {
  std::vector<std::uint8_t> result = free;
  for (std::size_t k = 0; k < result.size(); ++k) result[k] = result[k] && !is_power[k];
  return result;
}

std::optional<Form> form_of(const Rung& rung, const std::vector<double>& parameters, const Data& data, Powers allowed) {
  std::optional<Form> form = rung.kind == RungKind::Nested ? nested_form(rung, parameters.data(), data, allowed)
                                                           : product_form(rung, parameters.data(), data, allowed);
  if (!form) return std::nullopt;
  bool finite = true;
  for_each_number(*form, [&](const Number& number) { finite = finite && std::isfinite(number.value); });
  if (!finite || !normalise(*form, data.negative)) return std::nullopt;
  return form;
}

}  // namespace nalm::fitting
