// How the layers of a network are put together where they are not simply stacked: applied again and again (recurrent
// cells, the steps of a solver of differential equations), side by side, or mixed with each other.
//
// A wiring is a list of nodes; each has a number of values per sample, computed from nodes before it. Node 0 is the
// network's input, the last node is its output. A layer may be applied by many nodes: they share its parameters.
#pragma once

#include <limits>
#include <vector>

#include "nalm/stack.hpp"

namespace nalm {

class Wiring {
 public:
  // One value of a node.
  struct Port {
    int node = 0;
    int value = 0;
  };
  struct Term {
    double factor = 1;
    int node = 0;
  };
  struct Node {
    enum class Kind {
      Input,
      Constant,  // number, as often as wide
      Pick,      // values of other nodes
      Layer,     // a layer applied to node `from`
      Mix,       // c*a + (1 - c)*b for every value of the nodes a = terms[0] and b = terms[1]; c is ports[0]
      Sum,       // factors times nodes of the same width, and never below `number`
      Product,   // of the nodes terms[0] and terms[1], value by value
      Tanh,      // of node `from`, value by value
    };
    Kind kind = Kind::Input;
    int width = 0;
    int layer = -1, from = -1;
    std::vector<Port> ports;
    std::vector<Term> terms;
    double number = 0;
  };

  // Nothing but a stack: layer after layer.
  static Wiring of(const Stack& stack);

  explicit Wiring(int inputs) { nodes_.push_back({Node::Kind::Input, inputs, -1, -1, {}, {}, 0}); }

  // Each gives the number of the new node.
  int constant(double number, int width);
  int pick(std::vector<Port> ports);
  int layer(const Stack& stack, int layer, int from);
  int mix(Port c, int a, int b);
  int sum(std::vector<Term> terms, double lowest = -std::numeric_limits<double>::infinity());
  int product(int a, int b);
  int tanh(int from);

  // What is wrong with a node, such as one that does not exist yet, check_wiring says.
  const std::vector<Node>& nodes() const { return nodes_; }
  int inputs() const { return nodes_.front().width; }
  int outputs() const { return nodes_.back().width; }

 private:
  int add(Node node);
  int width_of(int node) const;  // 0 if there is none
  std::vector<Node> nodes_;
};

// Every layer on its own, every node made of nodes before it that fit, and every layer applied somewhere.
Status check_wiring(const Stack& stack, const Wiring& wiring);

}  // namespace nalm
