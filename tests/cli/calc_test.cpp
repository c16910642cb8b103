// nalm calc, as a user meets it.
#include "program.hpp"

namespace nalm::calc_test {
namespace {

TEST_F(ProgramTest, CalcShowsStepsAndResult) {
  const Outcome run = program("calc '3 + 4 * (2 - 1)^2 / 7'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* part : {"NAU", "NMU", "NMRU", "2 - 1", "4 / 7", "spell a + b", "result  3.571428571428571",
                           "exact   3.571428571428571", "error   0 (0 relative)"})
    EXPECT_TRUE(contains(run.out, part)) << part << " is not in " << run.out;
}

TEST_F(ProgramTest, CalcIsQuietWhenAsked) {
  const Outcome run = program("calc --quiet '2 * (3 + 4)'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "14\n");
  EXPECT_EQ(program("calc --quiet -- '-(2 + 3)'").out, "-5\n");
  EXPECT_EQ(program("calc --quiet 7").out, "7\n");
  EXPECT_EQ(program("calc --quiet '−(2 × 3) ÷ 4 − 1'").out, "-2.5\n");  // as they are printed in books
}

TEST_F(ProgramTest, CalcPutsACaretUnderTheMistake) {
  const Outcome run = program("calc '3 + * 4'");
  expect_refused(run, {"nalm: column 5: ", "\n  3 + * 4\n      ^\n"});
  // Characters are counted, not bytes.
  expect_refused(program("calc '√4 + x'"), {"column 6: ", "\n  √4 + x\n       ^\n"});
  // Of a long calculation, what is around the mistake.
  expect_refused(program("calc '" + std::string(300, '1') + " x'"), {"column 302: ", "...11111"});
  expect_refused(program("calc ''"), {"nothing to calculate"});
  expect_refused(program("calc '1,5 + 2'"), {"column 2: ", "decimals are written with a point"});
  expect_refused(program("calc '1 / (3 - 3)'"), {"column 3: ", "divides by zero"});
  expect_refused(program("calc '" + std::string(5000, '(') + "'"), {"open here"});
  expect_refused(program("calc '" + std::string(20000, '1') + "'"), {"20000 characters"});
}

TEST_F(ProgramTest, CalcTakesOtherModules) {
  const Outcome run = program("calc --raw '1e-12 * 3e-9'");
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_TRUE(contains(run.out, "off by more than 1e-6")) << run.out;
  const Outcome root = program("calc 'sqrt(2)' --modules sqrt=RealNPU");
  EXPECT_EQ(root.exit_code, 0) << root.out;
  EXPECT_TRUE(contains(root.out, "RealNPU")) << root.out;
  expect_refused(program("calc '1/2' --modules '/=NMU'"), {"NMU cannot learn /", "NMRU"});
  expect_refused(program("calc '1/2' --modules 'NMU'"), {"\"NMU\" is not an operator and its module"});
  expect_refused(program("calc '1/2' --seed 5000000000"), {"--seed"});
}

}  // namespace
}  // namespace nalm::calc_test
