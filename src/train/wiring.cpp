#include "train/wiring.hpp"

namespace nalm {

int Wiring::add(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
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
  const int width = stack[static_cast<std::size_t>(layer)].shape.outputs;
  return add({Node::Kind::Layer, width, layer, from, {}, {}, 0});
}

int Wiring::mix(Port c, int a, int b) {
  const int width = nodes_[static_cast<std::size_t>(a)].width;
  return add({Node::Kind::Mix, width, -1, -1, {c}, {{1, a}, {1, b}}, 0});
}

int Wiring::sum(std::vector<Term> terms, double lowest) {
  const int width = nodes_[static_cast<std::size_t>(terms.front().node)].width;
  return add({Node::Kind::Sum, width, -1, -1, {}, std::move(terms), lowest});
}

}  // namespace nalm
