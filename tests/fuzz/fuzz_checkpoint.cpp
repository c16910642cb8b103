// Any bytes: a checkpoint is read or refused in one sentence; what was read trains, and survives writing and reading.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "nalm/train.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  nalm::Result<nalm::Trainer> trainer = nalm::Trainer::from_checkpoint(text, "fuzz", 1);
  if (!trainer) {
    require(trainer.error().message.starts_with("fuzz: ") && trainer.error().message.ends_with("."));
    return 0;
  }
  const nalm::Result<std::string> written = trainer->checkpoint();
  require(written.ok());
  nalm::Result<nalm::Trainer> again = nalm::Trainer::from_checkpoint(*written, "again", 1);
  require(again.ok() && *again->checkpoint() == *written);
  // A large batch is nobody's mistake, but takes its time.
  if (written->find("\"batch\":128,") == std::string::npos) return 0;
  const auto ones = [](int, long, std::span<double> x, std::span<double> t) {
    std::fill(x.begin(), x.end(), 1.0);
    std::fill(t.begin(), t.end(), 1.0);
  };
  require(trainer->train(1, ones).ok() && again->train(1, ones).ok());
  require(*again->checkpoint() == *trainer->checkpoint());
  return 0;
}
