#include "nalm/wiring.hpp"

#include <cmath>

#include <fmt/format.h>

namespace nalm {

int Wiring::add(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

int Wiring::width_of(int node) const {
  return node < 0 || node >= static_cast<int>(nodes_.size()) ? 0 : nodes_[static_cast<std::size_t>(node)].width;
}

Wiring Wiring::of(const Stack& stack) {
  Wiring wiring(stack.front().shape.inputs);
  for (int k = 0; k < static_cast<int>(stack.size()); ++k) wiring.layer(stack, k, k);
  return wiring;
}

int Wiring::constant(double number, int width) { return add({Node::Kind::Constant, width, -1, -1, {}, {}, number}); }

int Wiring::pick(std::vector<Port> ports) {
  const int width = static_cast<int>(ports.size());
  return add({Node::Kind::Pick, width, -1, -1, std::move(ports), {}, 0});
}

int Wiring::layer(const Stack& stack, int layer, int from) {
  const bool known = layer >= 0 && layer < static_cast<int>(stack.size());
  const int width = known ? stack[static_cast<std::size_t>(layer)].shape.outputs : 0;
  return add({Node::Kind::Layer, width, layer, from, {}, {}, 0});
}

int Wiring::mix(Port c, int a, int b) {
  const int width = width_of(a);
  return add({Node::Kind::Mix, width, -1, -1, {c}, {{1, a}, {1, b}}, 0});
}

int Wiring::sum(std::vector<Term> terms, double lowest) {
  const int width = terms.empty() ? 0 : width_of(terms.front().node);
  return add({Node::Kind::Sum, width, -1, -1, {}, std::move(terms), lowest});
}

int Wiring::product(int a, int b) {
  const int width = width_of(a);
  return add({Node::Kind::Product, width, -1, -1, {}, {{1, a}, {1, b}}, 0});
}

int Wiring::tanh(int from) {
  const int width = width_of(from);
  return add({Node::Kind::Tanh, width, -1, from, {}, {}, 0});
}

Status check_wiring(const Stack& stack, const Wiring& wiring) {
  const std::vector<Wiring::Node>& nodes = wiring.nodes();
  std::vector<bool> applied(stack.size(), false);
  for (std::size_t k = 0; k < stack.size(); ++k) {
    // A stack of its own: only what is before and behind it differs.
    if (Status fits = check_stack({stack[k]}); !fits)
      return Error{fmt::format("layer {} of the wiring: {}", k + 1, fits.error().message)};
  }
  if (nodes.size() < 2) return Error{"a wiring needs at least one node behind its input."};
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const Wiring::Node& node = nodes[k];
    const auto wrong = [&](const std::string& what) {
      return Error{fmt::format("node {} of the wiring {}.", k, what)};
    };
    const auto is_before = [&](int other) { return other >= 0 && other < static_cast<int>(k); };
    for (const auto& [from, value] : node.ports) {
      if (!is_before(from)) return wrong(fmt::format("takes a value of node {}, which is not before it", from));
      const int width = nodes[static_cast<std::size_t>(from)].width;
      if (value < 0 || value >= width)
        return wrong(fmt::format("takes value {} of node {}, which has {}", value, from, width));
    }
    for (const auto& [factor, from] : node.terms) {
      if (!is_before(from)) return wrong(fmt::format("is made of node {}, which is not before it", from));
      const int width = nodes[static_cast<std::size_t>(from)].width;
      if (width != node.width) return wrong(fmt::format("adds nodes of {} and of {} values", node.width, width));
      if (!std::isfinite(factor)) return wrong("has a factor that is not finite");
    }
    if (node.kind == Wiring::Node::Kind::Tanh && !is_before(node.from))
      return wrong(fmt::format("is made of node {}, which is not before it", node.from));
    if (node.kind == Wiring::Node::Kind::Layer) {
      if (node.layer < 0 || node.layer >= static_cast<int>(stack.size()))
        return wrong(fmt::format("applies layer number {}, but there are {}", node.layer, stack.size()));
      if (!is_before(node.from)) return wrong(fmt::format("is made of node {}, which is not before it", node.from));
      const LayerShape& shape = stack[static_cast<std::size_t>(node.layer)].shape;
      const int width = nodes[static_cast<std::size_t>(node.from)].width;
      if (width != shape.inputs)
        return wrong(fmt::format("applies a layer of {} inputs to a node of {} values", shape.inputs, width));
      if (node.width != shape.outputs) return wrong("belongs to another stack");
      applied[static_cast<std::size_t>(node.layer)] = true;
    }
    if (node.width < 1) return wrong("has no values");
  }
  for (std::size_t k = 0; k < applied.size(); ++k)
    if (!applied[k]) return Error{fmt::format("layer {} is not used by any node of the wiring; leave it out.", k + 1)};
  return Done{};
}

}  // namespace nalm
