// Writes a tree as text in any language that has operators, functions and parentheses.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "nalm/expression.hpp"

namespace nalm::formula {

// How tightly a text holds together.
enum class Binding : std::uint8_t { Sum, Product, Sign, Power, Atom };

// What an operand must be to stand in its place without parentheses.
struct Place {
  Binding least = Binding::Sum;
  bool sign_in_front = true;  // whether the operand's text may begin with a minus sign
};

inline constexpr Place kAnything{};
inline constexpr Place kProduct{Binding::Product};
inline constexpr Place kTerm{Binding::Product, false};
inline constexpr Place kSigned{Binding::Sign};
inline constexpr Place kPower{Binding::Power};
inline constexpr Place kAtom{Binding::Atom};

// How one operation is written: $a and $b are its operands, $n is the name of the function, and $f is the name of the
// function that is being written.
struct Rule {
  std::string_view pattern;
  Binding binding = Binding::Atom;
  Place a = kAnything;
  Place b = kAnything;
};

struct FunctionRule {
  std::string_view name;
  Rule rule;
};

struct Number {
  std::string text;
  Binding binding;
};

struct Language {
  // As most languages have them.
  Rule negate = {"-$a", Binding::Sign, kPower};
  Rule add = {"$a + $b", Binding::Sum, kAnything, kTerm};
  Rule subtract = {"$a - $b", Binding::Sum, kAnything, kTerm};
  Rule multiply = {"$a*$b", Binding::Product, kProduct, kPower};
  Rule divide = {"$a/$b", Binding::Product, kProduct, kPower};
  Rule power = {"$a^$b", Binding::Power, kAtom, kSigned};
  Rule function = {"$n($a)"};  // for the functions that are not among the next
  std::span<const FunctionRule> functions;
  Number (*number)(double value);
  const Rule* (*special)(const Expression&) = nullptr;  // a rule for this node alone, or null
  std::string_view open = "(";
  std::string_view close = ")";
};

struct Names {
  std::function<std::string(const std::string& variable)> variable;
  std::string function;  // $f
};

// The text of exactly this tree, with no parentheses but those that the places need.
std::string write(const Expression& expression, const Language& language, const Names& names);

// Of the forms that read back as the same number the shortest, or one that people read more easily.
std::string shortest(double value);

// A number that is written as this text: held together by its sign if it has one, else an atom.
Number signed_number(double value, std::string text);

}  // namespace nalm::formula
