// Under a limit of memory (ulimit -v) every command does its work, or says in one sentence that the memory is not
// there.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cli/program.hpp"
#include "sanitized.hpp"

namespace nalm {
namespace {

class Memory : public ProgramTest {
 protected:
  Outcome limited(const std::string& arguments, long kilobytes) {
    return program(arguments, "ulimit -v " + std::to_string(kilobytes) + " && timeout -s KILL 60");
  }
  static constexpr const char* bench = "bench --quiet --iterations 10 ";
};

TEST_F(Memory, ThatIsNotThereIsSaidInOneSentence) {
  if (test::sanitized) GTEST_SKIP() << "a sanitizer needs terabytes of addresses";
  std::ofstream table(folder_ / "ok.csv");
  table << "a,b,y\n";
  for (int k = 1; k <= 50; ++k) table << 1 + k % 7 << "," << 2 + k % 5 << "," << (1 + k % 7) * (2 + k % 5) << "\n";
  table.close();
  ASSERT_EQ(program("fit ok.csv --target y --format json --quiet -o m.json").exit_code, 0);
  ASSERT_EQ(program(std::string(bench) + "--modules NAU --ranges 6 --seeds 0 --out r").exit_code, 0);
  // Less than that is the loader's, which is no part of the program.
  long least = 4 << 10;
  while (limited("--version", least).exit_code != 0 && least < 1 << 20) least += 1 << 10;
  ASSERT_LT(least, 1 << 20);
  int refused = 0;
  for (const long more : {0, 1, 2, 4, 8, 32}) {
    for (const std::string& command :
         {std::string("list"),
          std::string("list NAU --json"),
          std::string("check NAU"),
          std::string("eval m.json ok.csv"),
          std::string("explain m.json"),
          std::string("predict m.json ok.csv"),
          std::string("table r"),
          std::string("compare r r"),
          std::string("report r -o r.html"),
          std::string("report m.json -o m.html"),
          std::string("figure singularity -o f.html"),
          std::string("export r --operation add -o e.json"),
          std::string("completion bash"),
          std::string("man"),
          std::string("help fit"),
          std::string("calc 1+2"),
          std::string("fit ok.csv --target y --quiet --time-limit 0.2"),
          std::string("fit ok.csv --target y --quiet --time-limit 0.2 --model NMU:20,NAU:1"),
          std::string("train NAU --operation add --range '[1,2)' --iterations 10"),
          bench + std::string("--modules NAU --ranges 6 --seeds 0..9 --out new"),
          bench + std::string("--modules NAU --ranges 6 --seeds 0..9 --threads 64 --out new"),
          bench + std::string("--modules NAU --ranges 6 --seeds 0 --inputs 300 --out new"),
          bench + std::string("--task nsr-minimum --preset quick --out new")}) {
      fs::remove_all(folder_ / "new");
      const Outcome run = limited(command, least + (more << 10));
      EXPECT_TRUE(run.exit_code >= 0 && run.exit_code <= 2)
          << command << " with " << more << " MB more: " << run.exit_code << " " << run.err;
      if (run.exit_code != 2) continue;
      ++refused;
      EXPECT_TRUE(run.err.starts_with("nalm: ") && contains(run.err, "memory")) << command << ": " << run.err;
      EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << command << ": " << run.err;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace nalm
