// Random streams. The benchmark's are the classic 32-bit Mersenne Twister with the two mappings to numbers that the
// paper's software used: NumPy's for data, PyTorch's for start values. std::mt19937 is that generator; std
// distributions are not used, because they differ between standard libraries.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace nalm {

// Where a stream is, for checkpoints.
struct StreamState {
  std::string kind;                  // "xoshiro" or "torch"
  std::vector<std::uint64_t> words;  // xoshiro: its four; torch: the seed, how many were drawn, whether one is to spare
  double spare = 0;
};

// Start values come from a stream; what a seed means is the stream's business.
class StartStream {
 public:
  virtual ~StartStream() = default;
  virtual StreamState state() const = 0;
  virtual void uniform(std::span<double> out, double lo, double hi) = 0;
  virtual void normal(std::span<double> out, double mean, double deviation) = 0;
};

// Data, as NumPy's RandomState draws it.
class NumpyStream {
 public:
  explicit NumpyStream(std::uint32_t seed) : bits_(seed) {}

  std::uint32_t next() { return static_cast<std::uint32_t>(bits_()); }

  // In [0, 1), with 53 bits from two outputs.
  double unit() {
    const std::uint32_t p = next() >> 5, q = next() >> 6;
    return (p * 67108864.0 + q) / 9007199254740992.0;
  }

  // A whole number from 0 to last, by masked rejection; last = 0 consumes nothing.
  std::uint32_t up_to(std::uint32_t last);

 private:
  std::mt19937 bits_;
};

// Start values, as PyTorch draws them on a CPU in float32.
class TorchStream final : public StartStream {
 public:
  explicit TorchStream(std::uint32_t seed) : bits_(seed), seed_(seed) {}

  StreamState state() const override { return {"torch", {seed_, drawn_, has_spare_ ? 1u : 0u}, spare_}; }
  void uniform(std::span<double> out, double lo, double hi) override;
  void normal(std::span<double> out, double mean, double deviation) override;

 private:
  friend std::shared_ptr<StartStream> resumed(const StreamState& state);
  std::uint32_t next() {
    ++drawn_;
    return static_cast<std::uint32_t>(bits_());
  }
  float unit24() { return static_cast<float>(next() & 0xffffffu) * 0x1p-24f; }
  double unit53();

  std::mt19937 bits_;
  std::uint32_t seed_;
  std::uint64_t drawn_ = 0;
  bool has_spare_ = false;  // the sine value of the last pair, kept across tensors and re-initialisations
  double spare_ = 0;
};

// Everything else: xoshiro256++ (Blackman and Vigna), seeded by splitmix64.
class Xoshiro final : public StartStream {
 public:
  explicit Xoshiro(std::uint64_t seed);

  StreamState state() const override { return {"xoshiro", {state_, state_ + 4}, 0}; }
  std::uint64_t next();
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double lo, double hi) { return lo + (hi - lo) * unit(); }
  std::uint64_t below(std::uint64_t n) { return next() % n; }  // n far below 2^64: the bias does not matter
  double gaussian();

  void uniform(std::span<double> out, double lo, double hi) override;
  void normal(std::span<double> out, double mean, double deviation) override;

 private:
  friend std::shared_ptr<StartStream> resumed(const StreamState& state);
  std::uint64_t state_[4];
};

// A stream that goes on from there; null if that is no state of one.
std::shared_ptr<StartStream> resumed(const StreamState& state);

}  // namespace nalm
