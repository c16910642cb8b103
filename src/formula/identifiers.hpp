// Names that a programming language allows, made of names that people gave their columns.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace nalm::formula {

// Whether the identifier stands by itself in the text.
bool contains_word(std::string_view text, std::string_view identifier);

// Names that have a meaning already. C means C and C++ with math.h.
bool is_python_word(std::string_view name);
bool is_c_word(std::string_view name);

class Identifiers {
 public:
  // is_reserved says which names the language has taken.
  explicit Identifiers(bool (*is_reserved)(std::string_view)) : is_reserved_(is_reserved) {}

  // An identifier like the name, and like none that was made before.
  std::string make(std::string_view name);

 private:
  bool (*is_reserved_)(std::string_view);
  std::set<std::string> taken_;
};

}  // namespace nalm::formula
