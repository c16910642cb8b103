// The program with all of its commands: what main() calls, and a fuzzer.
#pragma once

namespace nalm::cli {

// Gives the exit code.
int run(int argc, char** argv);

}  // namespace nalm::cli
