#include "fit/form_layers.hpp"

#include <algorithm>
#include <iterator>

#include "nalm/modules/functions.hpp"

namespace nalm::fitting {

namespace {

// Which output of the first layer is this product of columns; adds it if it is new.
std::size_t index_of(std::vector<PowerList>& list, const PowerList& powers) {
  const auto found = std::find(list.begin(), list.end(), powers);
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  list.push_back(powers);
  return list.size() - 1;
}

// Parameters of an NRU-power layer with these outputs: [input][output].
std::vector<double> transposed(const std::vector<PowerList>& outputs, std::size_t inputs) {
  std::vector<double> W;
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const PowerList& powers : outputs) W.push_back(powers[i]);
  }
  return W;
}

std::vector<PowerList> columns_alone(std::size_t inputs) {
  std::vector<PowerList> plain;
  for (std::size_t i = 0; i < inputs; ++i) plain.push_back(power_of_column(inputs, i, 1));
  return plain;
}

// The products of columns that the first sums are made of: the columns themselves if these are enough.
std::vector<PowerList> monomials_of(const Form& form, const std::vector<PowerList>& columns) {
  std::vector<PowerList> monomials;
  const auto add = [&](const PowerList& powers) {
    if (!is_constant(powers)) index_of(monomials, powers);
  };
  for (const InnerSum& sum : form.sums) {
    for (const Term& term : sum.terms) add(term.powers);
  }
  for (const Product& product : form.products) add(product.powers);
  const bool all_plain = std::all_of(monomials.begin(), monomials.end(), [&](const PowerList& m) {
    return std::find(columns.begin(), columns.end(), m) != columns.end();
  });
  return all_plain ? columns : monomials;
}

// One sum of products of columns: a factor of each, and a constant behind them.
class Sum {
 public:
  explicit Sum(std::vector<PowerList>& monomials) : monomials_(monomials), factors_(monomials.size() + 1, 0.0) {}

  Sum& add(double factor, const PowerList& powers) {
    factors_[is_constant(powers) ? monomials_.size() : index_of(monomials_, powers)] += factor;
    return *this;
  }
  const std::vector<double>& factors() const { return factors_; }

 private:
  std::vector<PowerList>& monomials_;
  std::vector<double> factors_;
};

}  // namespace

void add_layer(Model& model, const char* module, std::size_t inputs, std::size_t outputs,
               std::vector<double> parameters) {
  const ModuleInfo* info = *find_module(module);
  const LayerShape shape = default_shape(*info, static_cast<int>(inputs), static_cast<int>(outputs));
  model.layers.push_back({info, shape, std::move(parameters)});
}

namespace {

// Of a form whose atoms are columns like the others.
Model arithmetic_layers(const Form& form, std::size_t inputs) {
  const std::vector<PowerList> plain = columns_alone(inputs);
  std::vector<PowerList> monomials = monomials_of(form, plain);
  const std::size_t K = monomials.size();
  Model model;
  if (monomials != plain) add_layer(model, "NRU-power", inputs, K, transposed(monomials, inputs));
  if (form.sums.empty()) {
    Sum sum(monomials);
    for (const Product& p : form.products) sum.add(p.coefficient.value, p.powers);
    add_layer(model, "Linear", K, 1, sum.factors());
    return model;
  }

  std::vector<Product> products;
  double offset = 0;
  for (const Product& p : form.products) {
    if (is_constant(p.powers) && p.sums.empty()) {
      offset += p.coefficient.value;
    } else {
      products.push_back(p);
    }
  }
  // Outputs of the middle sums: the inner sums, then one factor per product that has columns or a number of its own.
  const bool last_sum = products.size() > 1 || offset != 0;
  std::vector<std::vector<double>> outputs;
  for (const InnerSum& inner : form.sums) {
    Sum sum(monomials);
    for (const Term& term : inner.terms) sum.add(term.coefficient.value, term.powers);
    outputs.push_back(sum.factors());
  }
  for (Product& p : products) {
    const double number = last_sum ? 1 : p.coefficient.value;
    if (is_constant(p.powers) && number == 1) continue;
    p.sums.push_back({outputs.size(), 1});
    outputs.push_back(Sum(monomials).add(number, p.powers).factors());
  }
  std::vector<PowerList> factors;  // of each product, over the outputs
  for (const Product& p : products) {
    factors.emplace_back(outputs.size(), 0.0);
    for (const auto& [output, power] : p.sums) factors.back()[output] = power;
  }
  add_layer(model, "Linear", K, outputs.size(), transposed(outputs, K + 1));
  add_layer(model, "NRU-power", outputs.size(), products.size(), transposed(factors, outputs.size()));
  if (last_sum) {
    std::vector<double> last;
    for (const Product& p : products) last.push_back(p.coefficient.value);
    last.push_back(offset);
    add_layer(model, "Linear", products.size(), 1, last);
  }
  return model;
}

// Functions: as many outputs as inputs, each of which is one function of its input.
void add_functions(Model& model, const std::vector<std::string>& functions) {
  const std::size_t n = functions.size();
  std::vector<double> factors(static_cast<std::size_t>(modules::Functions::count) * n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t index = modules::Functions::identity;
    for (std::size_t f = 0; f < std::size(modules::Functions::parameters); ++f)
      if (modules::Functions::parameters[f].name == functions[i]) index = f;
    factors[(index * n + i) * n + i] = 1;
  }
  add_layer(model, "Functions", n, n, std::move(factors));
}

// The columns, passed through, and the atoms behind them.
void add_atoms(Model& model, const std::vector<Atom>& atoms, std::size_t inputs) {
  const std::vector<PowerList> plain = columns_alone(inputs);
  std::vector<PowerList> monomials = plain;
  for (const Atom& atom : atoms) {
    for (const Term& term : atom.argument.terms) {
      if (!is_constant(term.powers)) index_of(monomials, term.powers);
    }
  }
  std::vector<std::vector<double>> outputs;
  std::vector<std::string> functions(inputs, "identity");
  for (const PowerList& column : plain) outputs.push_back(Sum(monomials).add(1, column).factors());
  for (const Atom& atom : atoms) {
    Sum sum(monomials);
    for (const Term& term : atom.argument.terms) sum.add(term.coefficient.value, term.powers);
    outputs.push_back(sum.factors());
    functions.push_back(atom.function);
  }
  if (monomials != plain) add_layer(model, "NRU-power", inputs, monomials.size(), transposed(monomials, inputs));
  add_layer(model, "Linear", monomials.size(), outputs.size(), transposed(outputs, monomials.size() + 1));
  add_functions(model, functions);
}

}  // namespace

Model to_model(const Form& form, const std::vector<std::string>& columns) {
  Model model;
  model.columns = columns;
  if (!form.atoms.empty()) add_atoms(model, form.atoms, columns.size());
  Model arithmetic = arithmetic_layers(form, columns.size() + form.atoms.size());
  std::move(arithmetic.layers.begin(), arithmetic.layers.end(), std::back_inserter(model.layers));
  if (!form.outer.empty()) add_functions(model, {form.outer});
  return model;
}

}  // namespace nalm::fitting
