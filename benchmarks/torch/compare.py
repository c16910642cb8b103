#!/usr/bin/python3
"""Compares the speed of `nalm bench` with PyTorch on the single-module task, on one core.

For every pair of module and operation in turn it measures torch_baseline.py and the given program, one after the other
and several rounds of both, and prints a Markdown table. nalm's time is the wall time of a training of the 225 runs
with one thread, less that of the same command with --iterations 0. The best round counts, for both.

Exit code: 0 if nalm is as much faster over all pairs as is asked for, 1 if not, 2 if something could not be measured.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

RANGES = ["U[-20,-10)", "U[-2,-1)", "U[-1.2,-1.1)", "U[-0.2,-0.1)", "U[-2,2)", "U[0.1,0.2)", "U[1,2)", "U[1.1,1.2)",
          "U[10,20)"]
RUNS = 225
GRID_ITERATIONS = 50_001
PAIRS = [
    f"{module}:{operation}"
    for operation, modules in {
        "add": ("NAC+", "G-NALU", "iNALU", "NALU", "NAU"),
        "sub": ("NAC+", "G-NALU", "iNALU", "NALU", "NAU"),
        "mul": ("NAC*", "G-NALU", "iNALU", "NALU", "NMU", "NPU", "RealNPU"),
        "div": ("NAC*", "G-NALU", "iNALU", "NALU", "NPU", "RealNPU"),
    }.items()
    for module in modules
]


class Failure(Exception):
    pass


def run(command):
    """The output of a command, its wall time and its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    try:
        result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                env={**os.environ, "OMP_NUM_THREADS": "1"})
    except OSError as error:
        raise Failure(f"'{command[0]}' cannot be run: {error.strerror}.") from error
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        raise Failure(f"This command failed with exit code {result.returncode}: {' '.join(command)}\n{result.stderr}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result.stdout, wall, processor


def measure_torch(pair, arguments):
    script = pathlib.Path(__file__).with_name("torch_baseline.py")
    output, _, _ = run([arguments.python, str(script), "--pairs", pair,
                        "--seconds-per-measurement", str(arguments.seconds_per_measurement)])
    return json.loads(output)


def measure_nalm(pair, iterations, arguments, folder):
    """Wall time in seconds. With one thread that is core-seconds."""
    module, operation = pair.split(":")
    with tempfile.TemporaryDirectory(dir=folder) as parent:
        _, wall, processor = run([
            arguments.nalm, "bench", "--modules", module, "--operations", operation, "--ranges", *arguments.ranges,
            "--seeds", arguments.seeds, "--iterations", str(iterations), "--threads", "1",
            "--out", os.path.join(parent, "results"), "--quiet",
        ])
    if processor > 1.15 * wall + 0.1:
        raise Failure(f"nalm used {processor:.2f} s of processor time in {wall:.2f} s: that is more than one core, "
                      "so its wall time does not count as core-seconds.")
    return wall


def compare(pair, arguments, folder):
    loop, batched, fixed, trained = [], [], [], []
    for _ in range(arguments.rounds):
        torch = measure_torch(pair, arguments)
        loop.append(torch["pairs"][0]["loop_microseconds"])
        batched.append(torch["pairs"][0]["batched_microseconds"])
        fixed.append(measure_nalm(pair, 0, arguments, folder))
        trained.append(measure_nalm(pair, arguments.iterations, arguments, folder))
    seconds = min(trained) - min(fixed)
    if seconds <= 0:
        raise Failure(f"{pair}: {arguments.iterations} iterations took no longer than none. Use more --iterations.")
    return {
        "pair": pair,
        "loop_microseconds": min(loop),
        "batched_microseconds": min(batched),
        "nalm_microseconds": seconds / (arguments.iterations * RUNS) * 1e6,
        "nalm_fixed_seconds": min(fixed),
        "versions": torch["versions"],
    }


def table_row(name, loop, batched, nalm, digits):
    return (f"| {name} | {loop:,.{digits[0]}f} | {batched:,.{digits[1]}f} | {nalm:,.{digits[2]}f} "
            f"| {loop / nalm:,.0f} | {batched / nalm:,.1f} |")


def parse_pairs(text):
    pairs = text.split(",")
    for pair in pairs:
        if pair not in PAIRS:
            raise argparse.ArgumentTypeError(f"there is no pair '{pair}'; use some of {','.join(PAIRS)}")
    return pairs


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nalm", help="the program, for example build/release/nalm")
    parser.add_argument("--pairs", type=parse_pairs, default=PAIRS, metavar="MODULE:OPERATION,...",
                        help="default: all 23")
    parser.add_argument("--iterations", type=positive, default=50_000,
                        help="iterations of each run of nalm (default: %(default)s)")
    parser.add_argument("--rounds", type=positive, default=2, help="the best one counts (default: %(default)s)")
    parser.add_argument("--seconds-per-measurement", type=float, default=2.0, metavar="SECONDS",
                        help="for each form of PyTorch, in each round (default: %(default)s)")
    parser.add_argument("--least-loop", type=float, default=1000, metavar="RATIO",
                        help="over all pairs, against the loop (default: %(default)s)")
    parser.add_argument("--least-batched", type=float, default=25, metavar="RATIO",
                        help="over all pairs, against the batched form (default: %(default)s)")
    parser.add_argument("--ranges", nargs="+", default=RANGES, help="how nalm is told to run the nine ranges")
    parser.add_argument("--seeds", default="0..24", help="how nalm is told to run the 25 seeds (default: %(default)s)")
    parser.add_argument("--python", default="/usr/bin/python3", help="an interpreter with torch (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to this file as well")
    arguments = parser.parse_args()

    load_before = os.getloadavg()[0]
    print("Microseconds per iteration and run, on one core.\n")
    print("| pair | PyTorch loop | PyTorch batched | nalm | loop / nalm | batched / nalm |")
    print("|---|--:|--:|--:|--:|--:|", flush=True)
    results = []
    with tempfile.TemporaryDirectory(prefix="nalm-compare-") as folder:
        for pair in arguments.pairs:
            result = compare(pair, arguments, folder)
            results.append(result)
            print(table_row(pair.replace(":", " ").replace("*", r"\*"), result["loop_microseconds"],
                            result["batched_microseconds"], result["nalm_microseconds"], (1, 2, 4)), flush=True)

    loop, batched, nalm = (
        sum(result[f"{name}_microseconds"] for result in results) * 1e-6 * RUNS * GRID_ITERATIONS
        for name in ("loop", "batched", "nalm")
    )
    what = "whole grid" if set(arguments.pairs) == set(PAIRS) else "these pairs"
    print(table_row(f"**{what}, core-seconds**", loop, batched, nalm, (0, 0, 1)))
    fixed = sum(result["nalm_fixed_seconds"] for result in results)
    versions = results[0]["versions"]
    print(f"\nNot in the table: the fixed cost of nalm (--iterations 0), {fixed:.2f} s in all, "
          f"{fixed / len(results) * 1000:.0f} ms per pair, and that of PyTorch. Iterations of nalm: "
          f"{arguments.iterations:,}. Rounds: {arguments.rounds}. PyTorch {versions['torch']}, "
          f"numpy {versions['numpy']}, Python {versions['python']}. "
          f"Load average: {load_before:.1f} before, {os.getloadavg()[0]:.1f} after.")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"pairs": results, "core_seconds": {"loop": loop, "batched": batched, "nalm": nalm},
                       "iterations": arguments.iterations}, file, indent=2)

    slow = [f"{ratio:.1f} times as fast as the {form} form, not {least:g}"
            for form, ratio, least in (("loop", loop / nalm, arguments.least_loop),
                                       ("batched", batched / nalm, arguments.least_batched))
            if ratio < least]
    if slow:
        print(f"compare.py: nalm is {' and '.join(slow)}.", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"compare.py: {failure}", file=sys.stderr)
        sys.exit(2)
