// The program, run in a temporary folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sanitized.hpp"
#include "temporary_folder.hpp"
#include "words.hpp"

namespace nalm {

namespace fs = std::filesystem;

// Why a test is not for sanitizers, with which a benchmark takes minutes.
inline constexpr const char* trains_long = "a sanitizer looks at shorter trainings";

struct Outcome {
  int exit_code = -1;  // minus the signal, if one ended it
  std::string out, err;
};

inline int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// One sentence on standard error with all of these parts, and nothing on standard output.
inline void expect_refused(const Outcome& run, const std::vector<std::string>& parts) {
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.err.starts_with("nalm: ")) << run.err;
  for (const std::string& part : parts) EXPECT_TRUE(contains(run.err, part)) << part << " is not in " << run.err;
}

class ProgramTest : public testing::Test {
 protected:
  static std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  // Arguments as in a shell; the working folder is the temporary one. Settings go in front, such as NALM_SIMD=scalar.
  Outcome program(const std::string& arguments, const std::string& settings = "NALM_SIMD=") {
    const fs::path out = folder_ / ".out", err = folder_ / ".err";
    const std::string command = "cd '" + folder_.string() + "' && " + settings + " '" NALM_PROGRAM "' " + arguments +
                                " > '" + out.string() + "' 2> '" + err.string() + "'";
    const int status = std::system(command.c_str());
    return {exit_code_of(status), text_of(out), text_of(err)};
  }

  // The same on a terminal of so many columns; what it shows is in out, errors too.
  Outcome on_terminal(const std::string& arguments, int columns) {
    const std::string command = "cd '" + folder_.string() + "' && '" NALM_PROGRAM "' " + arguments;
    const winsize size{24, static_cast<unsigned short>(columns), 0, 0};
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
      setenv("TERM", "xterm", 1);
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    Outcome outcome;
    char text[4096];
    for (ssize_t n; (n = read(terminal, text, sizeof text)) > 0;) outcome.out.append(text, static_cast<std::size_t>(n));
    int status = 0;
    waitpid(child, &status, 0);
    close(terminal);
    std::erase(outcome.out, '\r');
    outcome.exit_code = exit_code_of(status);
    return outcome;
  }

  test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

}  // namespace nalm
