// The nodes of a wiring that are not layers, forwards and backwards.
#include <algorithm>
#include <cmath>

#include "train/network.hpp"

namespace nalm {

// Everything but layers. Plain loops over samples, values and lanes; the compiler makes vectors of them.
template <class S>
void Network<S>::apply(const Wiring::Node& node, NodeState& state, const S* x, int samples) const {
  const std::size_t width = at(node.width), n = width * static_cast<std::size_t>(samples), lanes = at(1);
  S* y = state.y.data();
  switch (node.kind) {
    case Wiring::Node::Kind::Input:
    case Wiring::Node::Kind::Constant:
    case Wiring::Node::Kind::Layer:
      break;
    case Wiring::Node::Kind::Pick:
      for (std::size_t v = 0; v < node.ports.size(); ++v) {
        const auto& [from, value] = node.ports[v];
        const std::size_t stride = at(wiring_.nodes()[static_cast<std::size_t>(from)].width);
        const S* source = values_of(from, x) + at(value);
        for (std::size_t s = 0; s < static_cast<std::size_t>(samples); ++s)
          std::copy_n(source + s * stride, lanes, y + s * width + v * lanes);
      }
      break;
    case Wiring::Node::Kind::Mix: {
      const auto& [from, value] = node.ports.front();
      const std::size_t stride = at(wiring_.nodes()[static_cast<std::size_t>(from)].width);
      const S *c = values_of(from, x) + at(value), *a = values_of(node.terms[0].node, x),
              *b = values_of(node.terms[1].node, x);
      for (std::size_t s = 0; s < static_cast<std::size_t>(samples); ++s, c += stride) {
        for (std::size_t k = s * width; k < (s + 1) * width; ++k)
          y[k] = c[k % lanes] * a[k] + (S(1) - c[k % lanes]) * b[k];
      }
      break;
    }
    case Wiring::Node::Kind::Sum:
      std::fill_n(y, n, S(0));
      for (const auto& [factor, from] : node.terms) {
        const S* source = values_of(from, x);
        const S f = static_cast<S>(factor);
        for (std::size_t k = 0; k < n; ++k) y[k] += f * source[k];
      }
      if (std::isfinite(node.number)) {
        const S lowest = static_cast<S>(node.number);
        for (std::size_t k = 0; k < n; ++k) y[k] = y[k] < lowest ? lowest : y[k];
      }
      break;
    case Wiring::Node::Kind::Product: {
      const S *a = values_of(node.terms[0].node, x), *b = values_of(node.terms[1].node, x);
      for (std::size_t k = 0; k < n; ++k) y[k] = a[k] * b[k];
      break;
    }
    case Wiring::Node::Kind::Tanh:
      step_kernels_->tanh(values_of(node.from, x), y, node.width * samples);
      break;
  }
}

// Adds to the gradients of the nodes it was computed from.
template <class S>
void Network<S>::apply_back(const Wiring::Node& node, const NodeState& state, const S* x, int samples, S* dx) {
  const std::size_t width = at(node.width), n = width * static_cast<std::size_t>(samples), lanes = at(1);
  const S* dy = state.dy.data();
  const auto gradient_of = [&](int from) { return from == 0 ? dx : nodes_[static_cast<std::size_t>(from)].dy.data(); };
  switch (node.kind) {
    case Wiring::Node::Kind::Input:
    case Wiring::Node::Kind::Constant:
    case Wiring::Node::Kind::Layer:
      break;
    case Wiring::Node::Kind::Pick:
      for (std::size_t v = 0; v < node.ports.size(); ++v) {
        const auto& [from, value] = node.ports[v];
        if (!gradient_of(from)) continue;
        const std::size_t stride = at(wiring_.nodes()[static_cast<std::size_t>(from)].width);
        S* gradient = gradient_of(from) + at(value);
        for (std::size_t s = 0; s < static_cast<std::size_t>(samples); ++s)
          for (std::size_t l = 0; l < lanes; ++l) gradient[s * stride + l] += dy[s * width + v * lanes + l];
      }
      break;
    case Wiring::Node::Kind::Mix: {
      const auto& [from, value] = node.ports.front();
      const std::size_t stride = at(wiring_.nodes()[static_cast<std::size_t>(from)].width);
      const int a = node.terms[0].node, b = node.terms[1].node;
      const S *c = values_of(from, x) + at(value), *ya = values_of(a, x), *yb = values_of(b, x);
      S *dc = gradient_of(from) ? gradient_of(from) + at(value) : nullptr, *da = gradient_of(a), *db = gradient_of(b);
      for (std::size_t s = 0; s < static_cast<std::size_t>(samples); ++s) {
        for (std::size_t k = s * width; k < (s + 1) * width; ++k) {
          const std::size_t at_c = s * stride + k % lanes;
          if (dc) dc[at_c] += dy[k] * (ya[k] - yb[k]);
          if (da) da[k] += dy[k] * c[at_c];
          if (db) db[k] += dy[k] * (S(1) - c[at_c]);
        }
      }
      break;
    }
    case Wiring::Node::Kind::Sum: {
      const bool bounded = std::isfinite(node.number);
      const S lowest = static_cast<S>(node.number);
      for (const auto& [factor, from] : node.terms) {
        S* gradient = gradient_of(from);
        if (!gradient) continue;
        const S f = static_cast<S>(factor);
        if (bounded) {
          for (std::size_t k = 0; k < n; ++k) gradient[k] += state.y[k] > lowest ? f * dy[k] : S(0);
        } else {
          for (std::size_t k = 0; k < n; ++k) gradient[k] += f * dy[k];
        }
      }
      break;
    }
    case Wiring::Node::Kind::Product: {
      const int a = node.terms[0].node, b = node.terms[1].node;
      const S *ya = values_of(a, x), *yb = values_of(b, x);
      S *da = gradient_of(a), *db = gradient_of(b);
      for (std::size_t k = 0; da && k < n; ++k) da[k] += dy[k] * yb[k];
      for (std::size_t k = 0; db && k < n; ++k) db[k] += dy[k] * ya[k];
      break;
    }
    case Wiring::Node::Kind::Tanh: {
      S* gradient = gradient_of(node.from);
      for (std::size_t k = 0; gradient && k < n; ++k) gradient[k] += dy[k] * (S(1) - state.y[k] * state.y[k]);
      break;
    }
  }
}

#define NALM_INSTANTIATE(S)                                                              \
  template void Network<S>::apply(const Wiring::Node&, NodeState&, const S*, int) const; \
  template void Network<S>::apply_back(const Wiring::Node&, const NodeState&, const S*, int, S*);
NALM_INSTANTIATE(float)
NALM_INSTANTIATE(double)
#undef NALM_INSTANTIATE

}  // namespace nalm
