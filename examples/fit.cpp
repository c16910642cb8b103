// Makes a table with a little noise, finds the formula behind it, and uses the formula far outside of the table.
#include <cmath>
#include <cstdio>
#include <random>

#include "nalm/fit.hpp"

int main() {
  // The time of a swing for pendulums of different lengths on different planets; the mass does not matter.
  nalm::Table table;
  table.columns = {"length", "gravity", "mass", "period"};
  std::mt19937 bits(1);
  const auto between = [&](double low, double high) {
    return low + (high - low) * 0x1p-32 * static_cast<double>(bits());
  };
  for (int k = 0; k < 200; ++k) {
    const double length = between(0.5, 3), gravity = between(3, 12), mass = between(1, 5);
    const double period = 2 * 3.14159265358979 * std::sqrt(length / gravity) + between(-1e-3, 1e-3);
    table.values.insert(table.values.end(), {length, gravity, mass, period});
    ++table.rows;
  }

  const nalm::Result<nalm::Fit> fit = nalm::fit(table, {.target = "period"});
  if (!fit) return std::fprintf(stderr, "%s\n", fit.error().message.c_str()), 2;
  if (!fit->is_law()) return std::printf("%s\n", fit->reason.c_str()), 1;
  const nalm::Candidate& best = fit->best();
  std::printf("period = %s\n", nalm::print(best.formula).c_str());
  std::printf("%s; %d of %d restarts agree\n", fit->reason.c_str(), best.agreeing, fit->converged);

  const std::string names[] = {"length", "gravity"};
  const double long_one_on_the_moon[] = {67, 1.62};
  std::printf("67 m on the moon: %.2f s\n", *nalm::evaluate(best.formula, names, long_one_on_the_moon));
}
