#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <iostream>

#include "cli/command.hpp"
#include "nalm/version.hpp"
#include "simd/dispatch.hpp"

namespace nalm::cli {

int fail(const Error& error) {
  fmt::print(stderr, "nalm: {}\n", error.message);
  return bad_use;
}

void set_example(CLI::App& command, const std::string& example) { command.footer("\nExample:\n" + example); }

namespace {

int run(int argc, char** argv) {
  CLI::App program(
      "nalm: neural arithmetic logic modules, small neural layers whose trained weights are a formula.\n"
      "Exit codes: 0 success or yes, 1 the answer is no, 2 bad use or bad input.");
  program.require_subcommand(1);
  program.set_version_flag("--version", [] {
    return fmt::format("nalm {} ({}, SIMD target {}: {} runs at once)", version(), compiler(), simd_target(),
                       simd_lanes());
  });
  program.footer(
      "\nEnvironment:\n"
      "  NALM_SIMD=NAME  use this SIMD target instead of the widest (avx512, avx2, sse4, scalar)\n"
      "\nStart with:\n"
      "  nalm list          the modules\n"
      "  nalm list NMU      one module: formula, parameters, habits, differences from the paper\n"
      "  nalm COMMAND --help");
  int exit_code = yes;
  add_list(program, exit_code);
  add_check(program, exit_code);
  add_eval(program, exit_code);
  add_explain(program, exit_code);
  if (const Result<const simd::Target*> target = simd::choose_target(); !target) return fail(target.error());
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // Help and version are not errors; everything else is bad use.
    if (e.get_exit_code() == 0) {
      program.exit(e);
      return std::fflush(stdout) != 0 || !std::cout.flush() ? fail({"the output could not be written."}) : yes;
    }
    fmt::print(stderr, "nalm: {}\nRun \"nalm --help\" or \"nalm COMMAND --help\".\n", e.what());
    return bad_use;
  }
  // A full disk or a closed pipe must not look like success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) return fail({"the output could not be written."});
  return exit_code;
}

}  // namespace

}  // namespace nalm::cli

int main(int argc, char** argv) {
  try {
    return nalm::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return nalm::cli::fail({"out of memory; use fewer rows or a smaller network."});
  } catch (const std::exception& e) {
    return nalm::cli::fail({std::string("unexpected error: ") + e.what()});
  }
}
