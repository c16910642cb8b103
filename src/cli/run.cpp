// The commands, and what is said about all of them.
#include "cli/run.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "nalm/version.hpp"
#include "simd/dispatch.hpp"

namespace nalm::cli {

int run(int argc, char** argv) {
  if (const Result<const simd::Target*> target = simd::choose_target(); !target) return fail(target.error());
  Program program(
      "nalm: neural arithmetic logic modules, small neural layers whose trained weights are a formula.\n"
      "Exit codes: 0 success or yes, 1 the answer is no, 2 bad use or bad input.",
      "Environment:\n"
      "  NALM_SIMD=NAME  use this SIMD target instead of the widest (avx512, avx2, sse4, scalar)\n"
      "\nStart with:\n"
      "  nalm list          the modules\n"
      "  nalm list NMU      one module: formula, parameters, habits, differences from the paper\n"
      "  nalm train NAU --operation add --range \"[1,2)\"   watch one training\n"
      "  nalm fit data.csv --target y     the formula behind a table\n"
      "  nalm bench         the paper's benchmark, about a minute\n"
      "  nalm help COMMAND",
      [] {
        return fmt::format("nalm {} ({}, {}, SIMD target {}: {} runs at once)", version(), build_name(), compiler(),
                           simd_target(), simd_lanes());
      });
  for (const auto add :
       {add_list, add_check, add_eval, add_explain, add_fit, add_predict, add_train, add_calc, add_bench, add_merge,
        add_table, add_compare, add_report, add_figure, add_export, add_completion, add_man})
    add(program);
  return program.run(argc, argv);
}

}  // namespace nalm::cli
