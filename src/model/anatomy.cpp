#include "model/anatomy.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "formula/node.hpp"
#include "modules/registry.hpp"

namespace nalm {
namespace {

using PartKind = AnatomyPart::Kind;

const void* place_of(const Expression& e) { return &ExpressionBuilder::node(e); }

// The letter that a name ends with, if it is not taken, or all its words: "summative path a" is a, "sign of sum" is
// sign_sum.
std::string symbol_of(std::string_view name, std::set<std::string>& taken) {
  std::vector<std::string> words{""};
  for (const char c : name) {
    if (c == ' ')
      words.emplace_back();
    else if (formula::is_letter(c) || formula::is_digit(c))
      words.back() += c;
  }
  std::string symbol = words.back();
  if ((words.size() > 1 && symbol.size() > 2) || taken.contains(symbol) || !formula::is_plain_name(symbol)) {
    symbol.clear();
    for (const std::string& word : words)
      if (word != "of") symbol += (symbol.empty() ? "" : "_") + word;
  }
  while (taken.contains(symbol) || !formula::is_plain_name(symbol)) symbol = "s" + symbol;
  taken.insert(symbol);
  return symbol;
}

// W_12 is of input 1 and output 2; an axis that has one place only needs no number.
std::vector<std::string> element_symbols(const std::string& symbol, const std::vector<int>& sizes) {
  int count = 1;
  for (const int size : sizes) count *= size;
  const bool short_numbers = std::all_of(sizes.begin(), sizes.end(), [](int size) { return size < 10; });
  std::vector<std::string> symbols;
  for (int k = 0; k < count; ++k) {
    std::string places;
    int rest = k, below = count;
    for (const int size : sizes) {
      below /= size;
      if (size > 1) places += fmt::format("{}{}", places.empty() || short_numbers ? "" : "_", rest / below + 1);
      rest %= below;
    }
    symbols.push_back(places.empty() ? symbol : symbol + "_" + places);
  }
  return symbols;
}

std::vector<int> sizes_of(const ModuleInfo& module, const LayerShape& shape, const Axes& axes) {
  std::vector<int> sizes;
  for (int k = 0; k < axes.count; ++k)
    sizes.push_back(axis_size(axes.axis[static_cast<unsigned>(k)], shape.inputs, shape.outputs, paths(module, shape)));
  return sizes;
}

bool stands_in(std::string_view name, std::string_view text) {
  const auto is_word = [](char c) { return formula::is_letter(c) || formula::is_digit(c); };
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const std::size_t end = at + name.size();
    if (begins && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

// An expression with symbols where it has one of the known ones as a part.
class Abridged {
 public:
  explicit Abridged(const std::map<const void*, std::string>& known) : known_(known) {}
  // except: the value that the expression itself is.
  Expression operator()(const Expression& e, const std::string& except) {
    const auto found = known_.find(place_of(e));
    if (found != known_.end() && found->second != except) return Expression::variable(found->second);
    return below(e);
  }

 private:
  Expression below(const Expression& e) {
    if (e.operands().empty()) return e;
    const auto done = done_.find(place_of(e));
    if (done != done_.end()) return done->second;
    std::vector<Expression> operands;
    for (const Expression& operand : e.operands()) {
      const auto found = known_.find(place_of(operand));
      operands.push_back(found != known_.end() ? Expression::variable(found->second) : below(operand));
    }
    return done_.emplace(place_of(e), formula::with_operands(e, std::move(operands))).first->second;
  }
  const std::map<const void*, std::string>& known_;
  std::map<const void*, Expression> done_;
};

// All parts, needed or not, with what they are made of; steps of these numbers are written out where they are used.
std::vector<AnatomyPart> all_parts(const ModuleInfo& module, const LayerShape& shape,
                                   const std::set<std::size_t>& written_out) {
  std::vector<AnatomyPart> parts;
  std::set<std::string> taken{"x", "y"};
  const auto add = [&](PartKind kind, std::size_t index, std::string_view name, const Axes& axes) {
    AnatomyPart part{kind, index, std::string(name), {}};
    if (kind == PartKind::Input || kind == PartKind::Output) {
      const int count = kind == PartKind::Input ? shape.inputs : shape.outputs;
      for (int k = 0; k < count; ++k) part.symbols.push_back(fmt::format("{}{}", name, k + 1));
    } else {
      // The weight has the name that both have, since forward uses the weight.
      const auto is_namesake = [&](const Quantity& weight) { return weight.name == name; };
      const bool raw =
          kind == PartKind::Parameter && std::any_of(module.weights.begin(), module.weights.end(), is_namesake);
      part.symbols = element_symbols(symbol_of(raw ? fmt::format("raw_{}", name) : std::string(name), taken),
                                     sizes_of(module, shape, axes));
    }
    parts.push_back(std::move(part));
  };
  add(PartKind::Input, 0, "x", per_input);
  for (std::size_t k = 0; k < module.parameters.size(); ++k)
    if (is_present(module.parameters[k], shape))
      add(PartKind::Parameter, k, module.parameters[k].name, module.parameters[k].axes);
  for (std::size_t k = 0; k < module.weights.size(); ++k)
    add(PartKind::Weight, k, module.weights[k].name, module.weights[k].axes);
  for (std::size_t k = 0; k < module.steps.size(); ++k)
    add(PartKind::Step, k, module.steps[k].name, module.steps[k].axes);
  add(PartKind::Output, 0, "y", per_output);

  // The forward pass on symbols.
  std::vector<Expression> x, p, w;
  for (const AnatomyPart& part : parts)
    for (const std::string& symbol : part.symbols) {
      if (part.kind == PartKind::Input) x.push_back(Expression::variable(symbol));
      if (part.kind == PartKind::Parameter) p.push_back(Expression::variable(symbol));
      if (part.kind == PartKind::Weight) w.push_back(Expression::variable(symbol));
    }
  std::vector<Expression> y(static_cast<std::size_t>(shape.outputs));
  std::vector<Expression> steps(static_cast<std::size_t>(quantity_count(module, module.steps, shape)));
  entry_of(module).formula(shape, p.data(), w.data(), x.data(), y.data(), steps.data());

  std::map<const void*, std::string> known;
  std::map<std::string, std::size_t> owner;
  std::size_t next = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    for (const std::string& symbol : parts[k].symbols) {
      owner.emplace(symbol, k);
      if (parts[k].kind != PartKind::Step) continue;
      const Expression& value = steps[next++];
      if (!written_out.contains(parts[k].index) && !value.operands().empty()) known.emplace(place_of(value), symbol);
    }
  }
  Abridged abridged(known);
  next = 0;
  for (AnatomyPart& part : parts) {
    std::set<std::size_t> used;
    if (part.kind == PartKind::Step || part.kind == PartKind::Output) {
      for (std::size_t e = 0; e < part.symbols.size(); ++e) {
        const Expression& value = part.kind == PartKind::Step ? steps[next++] : y[e];
        part.formulas.push_back(abridged(value, part.symbols[e]));
        for (const std::string& symbol : variables(part.formulas.back())) used.insert(owner.at(symbol));
      }
    } else if (part.kind == PartKind::Weight) {
      // Which parameters a weight is made of is said in words.
      for (std::size_t k = 0; k < parts.size(); ++k)
        if (parts[k].kind == PartKind::Parameter && stands_in(parts[k].name, module.weights[part.index].formula))
          used.insert(k);
    }
    part.uses.assign(used.begin(), used.end());
  }
  return parts;
}

// Steps whose values are made of each other are kept on the way to something else. Five inputs show them all.
std::set<std::size_t> kept_on_the_way(const ModuleInfo& module, LayerShape shape) {
  shape.inputs = std::max(shape.inputs, 5);
  std::set<std::size_t> found;
  for (bool more = true; more;) {
    more = false;
    const std::vector<AnatomyPart> parts = all_parts(module, shape, found);
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (parts[k].kind == PartKind::Step && std::count(parts[k].uses.begin(), parts[k].uses.end(), k))
        more = found.insert(parts[k].index).second || more;
  }
  return found;
}

}  // namespace

Anatomy anatomy_of(const ModuleInfo& module, const LayerShape& shape) {
  std::vector<AnatomyPart> parts = all_parts(module, shape, kept_on_the_way(module, shape));
  std::vector<bool> needed(parts.size());
  needed.back() = true;
  for (std::size_t k = parts.size(); k-- > 0;)
    if (needed[k])
      for (const std::size_t used : parts[k].uses) needed[used] = true;
  Anatomy anatomy;
  std::vector<std::size_t> moved(parts.size());
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (!needed[k] && parts[k].kind != PartKind::Input) continue;
    moved[k] = anatomy.parts.size();
    for (std::size_t& used : parts[k].uses) used = moved[used];
    anatomy.parts.push_back(std::move(parts[k]));
  }
  return anatomy;
}

std::vector<std::pair<std::string, double>> values_of(const Anatomy& anatomy, const Layer& layer,
                                                      const ExplainedLayer& explained) {
  std::vector<std::pair<std::string, double>> values;
  for (const AnatomyPart& part : anatomy.parts) {
    const double* of = explained.outputs.data();
    if (part.kind == PartKind::Input) of = explained.inputs.data();
    if (part.kind == PartKind::Weight) of = explained.weights[part.index].values.data();
    if (part.kind == PartKind::Step) of = explained.steps[part.index].values.data();
    if (part.kind == PartKind::Parameter) {
      of = layer.parameters.data();
      for (std::size_t k = 0; k < part.index; ++k) {
        const ParameterInfo& before = layer.module->parameters[k];
        if (is_present(before, layer.shape)) of += size_of(*layer.module, before.axes, layer.shape);
      }
    }
    for (const std::string& symbol : part.symbols) values.emplace_back(symbol, *of++);
  }
  return values;
}

}  // namespace nalm
