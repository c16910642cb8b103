// Text in columns, the first ones to the left and the others to the right: what tables are printed with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/csv.hpp"
#include "experiment/intervals.hpp"

namespace nalm {

class Columns {
 public:
  explicit Columns(std::size_t left) : left_(left) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }  // the first one is the heading
  // Leaves columns away that have nothing but a heading.
  void drop_empty();

  const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  std::size_t left() const { return left_; }

  std::string print() const;
  std::string markdown() const;
  std::string latex(std::string_view caption) const;  // needs booktabs

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

// "48000 [47300, 48700]"; "-" if there is no value.
std::string with_interval(const Estimate& e, std::string (*print)(double));
std::string percent(double value);  // whole, without the sign

// "Addition" for add; other names as they are.
std::string operation_title(std::string_view operation);

// Nothing where there is no number.
std::string csv_number(double value);

// Text as LaTeX shows it.
std::string latex_text(std::string_view text);

}  // namespace nalm
