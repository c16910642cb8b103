// The list of candidates that a fit shows.
#include "fit/candidates.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nalm::fitting::candidates_test {
namespace {

Finalist finalist(const char* formula, int size, double rmse) {
  Finalist f;
  f.candidate.formula = *parse_expression(formula);
  f.candidate.size = size;
  f.candidate.train.rmse = rmse;
  f.candidate.train.relative = rmse;
  return f;
}

// Two forms may be spelled alike after their numbers are rounded. Once the one that was not chosen stood first, the
// chosen one was left out as its repetition, and the smallest formula of the list passed for the chosen one.
TEST(Candidates, TheChosenOneIsListedThoughAnotherOneIsSpelledAlike) {
  const std::vector<Finalist> finalists = {finalist("4.7*x", 3, 1.0), finalist("3*x - 2*y", 7, 0.04),
                                           finalist("3*x - 2*y", 7, 0.041)};
  for (const std::size_t chosen : {1u, 2u}) {
    Fit fit;
    list_candidates(fit, finalists, finalists[chosen]);
    ASSERT_EQ(fit.candidates.size(), 2u);
    EXPECT_EQ(print(fit.best().formula), "3*x - 2*y");
    EXPECT_EQ(fit.best().train.rmse, finalists[chosen].candidate.train.rmse);
  }
}

}  // namespace
}  // namespace nalm::fitting::candidates_test
