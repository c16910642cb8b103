// Numbers and texts as bytes, for messages between processes of one program.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nalm {

class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void number(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number<std::uint64_t>(value.size());
    bytes_.append(value);
  }
  template <class T>
  void numbers(const std::vector<T>& values) {
    text({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }

  std::size_t size() const { return bytes_.size(); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Never reads beyond the end: what is missing is zero or empty, and failed() says so.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T number() {
    T value{};
    const std::string_view bytes = take(sizeof value);
    if (!failed_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number<std::uint64_t>())); }
  template <class T>
  std::vector<T> numbers() {
    const std::string_view bytes = take(number<std::uint64_t>());
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view take(std::uint64_t size) {
    failed_ = failed_ || size > rest_.size();
    if (failed_) return {};
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace nalm
