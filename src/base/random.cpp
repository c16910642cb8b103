#include "base/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "nalm/detail/portable.hpp"

namespace nalm {

namespace {
constexpr double two_pi = 6.28318530717958647692;
}

std::uint32_t NumpyStream::up_to(std::uint32_t last) {
  if (last == 0) return 0;
  const std::uint32_t mask = ~std::uint32_t{0} >> std::countl_zero(last);
  std::uint32_t value;
  do {
    value = next() & mask;
  } while (value > last);
  return value;
}

void TorchStream::uniform(std::span<double> out, double lo, double hi) {
  // The bounds are floats; the value is computed in double and rounded once.
  const double from = static_cast<float>(lo), width = static_cast<float>(static_cast<float>(hi) - from);
  for (double& value : out) value = static_cast<float>(unit24() * width + from);
}

double TorchStream::unit53() {
  const std::uint64_t high = next(), low = next();
  return static_cast<double>(((high << 32) | low) & ((std::uint64_t{1} << 53) - 1)) * 0x1p-53;
}

void TorchStream::normal(std::span<double> out, double mean, double deviation) {
  const std::size_t n = out.size();
  if (n < 16) {
    for (double& value : out) {
      double sample;
      if (has_spare_) {
        sample = spare_;
      } else {
        const double u1 = unit53(), u2 = unit53();
        const double radius = std::sqrt(-2 * portable::log1p(-u2)), angle = two_pi * u1;
        sample = radius * portable::cos(angle);
        spare_ = radius * portable::sin(angle);
      }
      has_spare_ = !has_spare_;
      value = static_cast<float>(sample * deviation + mean);
    }
    return;
  }
  // Large tensors: 24-bit uniforms first, then in blocks of 16; a last partial block is done over from fresh draws.
  std::vector<float> u(n);
  for (float& value : u) value = unit24();
  const auto transform = [&](std::size_t first) {
    for (std::size_t j = first; j < first + 8; ++j) {
      // Functions of floats: computed in double and rounded once.
      const float logarithm = static_cast<float>(portable::log(1 - u[j])), radius = std::sqrt(-2 * logarithm);
      const float angle = static_cast<float>(two_pi) * u[j + 8];
      const float cosine = static_cast<float>(portable::cos(angle)), sine = static_cast<float>(portable::sin(angle));
      u[j] = radius * cosine * static_cast<float>(deviation) + static_cast<float>(mean);
      u[j + 8] = radius * sine * static_cast<float>(deviation) + static_cast<float>(mean);
    }
  };
  for (std::size_t first = 0; first + 16 <= n; first += 16) transform(first);
  if (n % 16 != 0) {
    for (std::size_t j = n - 16; j < n; ++j) u[j] = unit24();
    transform(n - 16);
  }
  for (std::size_t j = 0; j < n; ++j) out[j] = static_cast<double>(u[j]);
}

Xoshiro::Xoshiro(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15u;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    word = z ^ (z >> 31);
  }
}

std::uint64_t Xoshiro::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Xoshiro::gaussian() {
  const double radius = std::sqrt(-2 * portable::log1p(-unit()));
  return radius * portable::cos(two_pi * unit());
}

void Xoshiro::uniform(std::span<double> out, double lo, double hi) {
  for (double& value : out) value = static_cast<float>(between(lo, hi));
}

void Xoshiro::normal(std::span<double> out, double mean, double deviation) {
  for (double& value : out) value = static_cast<float>(mean + deviation * gaussian());
}

std::shared_ptr<StartStream> resumed(const StreamState& state) {
  const std::vector<std::uint64_t>& words = state.words;
  if (state.kind == "xoshiro" && words.size() == 4) {
    const auto stream = std::make_shared<Xoshiro>(0);
    std::copy(words.begin(), words.end(), stream->state_);
    return stream;
  }
  // More than a billion start values would take minutes to skip, and no training draws as many.
  constexpr std::uint64_t most = 1'000'000'000;
  if (state.kind == "torch" && words.size() == 3 && words[0] <= 0xffffffffu && words[1] <= most && words[2] <= 1) {
    const auto stream = std::make_shared<TorchStream>(static_cast<std::uint32_t>(words[0]));
    stream->bits_.discard(words[1]);
    stream->drawn_ = words[1];
    stream->has_spare_ = words[2] == 1;
    stream->spare_ = state.spare;
    return stream;
  }
  return nullptr;
}

}  // namespace nalm
