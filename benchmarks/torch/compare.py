#!/usr/bin/python3
"""Compares the speed of `nalm bench` with PyTorch on the single-module task, in processor time.

In every round each pair of module and operation gets, one after the other, a window of each of the three forms of
torch_baseline.py and a run of nalm with one thread. The round ends with a run of nalm over the whole grid, because nalm
shares batches between pairs that run together. All runs of nalm are measured less the same command with --iterations 0.
The best round counts, for both programs; the means are in a second table. Load on the machine changes the ratios.

Exit code: 0 if nalm is as much faster over all pairs as is asked for, 1 if not, 2 if something could not be measured.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

try:
    import torch_baseline
except ImportError as error:
    print(f"compare.py: {error}. Run it with /usr/bin/python3, after apt-get install python3-torch.", file=sys.stderr)
    sys.exit(2)

from torch_baseline import FORMS, LOG_EVERY, PAIRS, RUNS, PairTiming

GRID_ITERATIONS = 50_000  # After these nalm has logged 51 times, like the reference software after 50,001.
GRID = None  # The pair that stands for all of them.


class Failure(Exception):
    pass


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Failure(f"'{command[0]}' cannot be run: {error.strerror}.") from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        raise Failure(f"This command failed with exit code {result.returncode}: {' '.join(command)}\n{result.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class NalmTiming:
    """The runs of nalm for a pair or for the grid. Its fixed part is start-up, evaluation at step 0, and results.

    What is added by so many thousand iterations has as many evaluations, as in a complete training.
    """

    def __init__(self, nalm, pair, iterations, folder):
        self.command = [nalm, "bench", "--threads", "1", "--quiet"]
        if pair is not GRID:
            self.command += ["--modules", pair[0], "--operations", pair[1]]
        self.pairs = len(PAIRS) if pair is GRID else 1
        self.iterations = iterations
        self.folder = folder
        self.fixed, self.trained = [], []

    def run(self):
        for iterations, into in ((0, self.fixed), (self.iterations, self.trained)):
            with tempfile.TemporaryDirectory(dir=self.folder) as parent:
                out = os.path.join(parent, "results")
                into.append(processor_seconds([*self.command, "--iterations", str(iterations), "--out", out]))

    def training_seconds(self, statistic):
        seconds = statistic(self.trained) - statistic(self.fixed)
        if seconds <= 0:
            raise Failure(f"'{' '.join(self.command)}': {self.iterations} iterations took no longer than none. "
                          "Use more iterations.")
        return seconds

    def microseconds(self, statistic):
        return self.training_seconds(statistic) / (self.iterations * RUNS * self.pairs) * 1e6

    def complete_seconds(self, statistic):
        return statistic(self.fixed) + self.training_seconds(statistic) * GRID_ITERATIONS / self.iterations


def mean(values):
    return sum(values) / len(values)


STATISTICS = {"best": min, "mean": mean}


def table_row(name, times, digits):
    """Times are those of the forms of PyTorch, then that of nalm."""
    ratios = [time / times[-1] for time in times[:-1]]
    cells = [name, *(f"{time:,.{places}f}" for time, places in zip(times, digits, strict=True))]
    return "| " + " | ".join(cells + [f"{ratio:,.{0 if ratio >= 100 else 1}f}" for ratio in ratios]) + " |"


def table_head(first):
    names = [f"PyTorch {name}" for name in FORMS.values()] + ["nalm"] + [f"{name} / nalm" for name in FORMS.values()]
    return f"| {' | '.join([first, *names])} |\n|---|" + "--:|" * len(names)


def count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def thousands(text):
    number = int(text)
    if number < 2 * LOG_EVERY or number % LOG_EVERY != 0:
        raise argparse.ArgumentTypeError(f"must be a multiple of {LOG_EVERY}, and at least {2 * LOG_EVERY}: "
                                         "otherwise the evaluations do not have their share")
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nalm", help="the program, for example build/release/nalm")
    parser.add_argument("--pairs", type=torch_baseline.parse_pairs, default=PAIRS, metavar="MODULE:OPERATION,...",
                        help="default: all 23. With fewer the last row is a sum of pairs")
    parser.add_argument("--rounds", type=count, default=3, help="the best one counts (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.4,
                        help="for each pair and form of PyTorch, in each round (default: %(default)s)")
    parser.add_argument("--pair-iterations", type=thousands, default=4000, metavar="N",
                        help="of nalm, for a pair (default: %(default)s)")
    parser.add_argument("--grid-iterations", type=thousands, default=10_000, metavar="N",
                        help="of nalm, for the whole grid (default: %(default)s)")
    parser.add_argument("--least-loop", type=float, default=1000, metavar="RATIO",
                        help="over all pairs, against the loop (default: %(default)s)")
    parser.add_argument("--least-batched", type=float, default=25, metavar="RATIO",
                        help="over all pairs, against batched, own batches (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to this file as well")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    load_before = os.getloadavg()[0]
    torch_baseline.use_one_thread()
    pairs = arguments.pairs
    complete = set(pairs) == set(PAIRS)
    windows = {pair: [] for pair in pairs}
    with tempfile.TemporaryDirectory(prefix="nalm-compare-") as folder:
        nalm = {pair: NalmTiming(arguments.nalm, pair, arguments.pair_iterations, folder) for pair in pairs}
        grid = NalmTiming(arguments.nalm, GRID, arguments.grid_iterations, folder)
        for number in range(arguments.rounds):
            for pair in pairs:
                print(f"\rround {number + 1} of {arguments.rounds}: {' '.join(pair):16}", end="", file=sys.stderr)
                windows[pair].append(PairTiming(*pair).window(arguments.seconds))
                nalm[pair].run()
            if complete:
                print(f"\rround {number + 1} of {arguments.rounds}: {'grid':16}", end="", file=sys.stderr)
                grid.run()
        print(file=sys.stderr)

    def times(pair, statistic):
        forms = [statistic([window[form] for window in windows[pair]]) for form in FORMS]
        return [*forms, nalm[pair].microseconds(statistic)]

    def grid_times(statistic):
        columns = zip(*(times(pair, statistic) for pair in pairs), strict=True)
        totals = [sum(column) * 1e-6 * RUNS * torch_baseline.ITERATIONS for column in columns]
        separate = sum(timing.complete_seconds(statistic) for timing in nalm.values())
        return [*totals[:-1], grid.complete_seconds(statistic) if complete else separate], separate

    print("Microseconds of processor time per iteration and run; best of the rounds.\n")
    print(table_head("pair"))
    for pair in pairs:
        print(table_row(" ".join(pair).replace("*", r"\*"), times(pair, min), (1, 2, 2, 3)))
    best, separate = grid_times(min)
    what = "whole grid" if complete else "these pairs"
    how = "nalm: one process" if complete else "nalm: a process per pair"
    print(table_row(f"**{what}, core-seconds** ({how})", best, (0, 0, 0, 1)))
    print(f"\nThe last row again, from the means of the rounds.\n\n{table_head('core-seconds')}")
    means, _ = grid_times(mean)
    print(table_row(what, means, (0, 0, 0, 1)))

    rounds = f"{arguments.rounds} rounds" if arguments.rounds > 1 else "1 round"
    versions = torch_baseline.versions()
    print()
    if complete:
        print(f"nalm in the last row: all pairs in one process, {arguments.grid_iterations:,} iterations extrapolated "
              f"to {GRID_ITERATIONS:,}, and {min(grid.fixed):.2f} s for start-up, step 0 and results. With a process "
              f"per pair it would be {separate:.1f} s.")
    print(f"nalm in the other rows: one pair, {arguments.pair_iterations:,} iterations, without start-up. PyTorch: "
          f"windows of {arguments.seconds:g} s, without start-up and results. {rounds}. PyTorch {versions['torch']}, "
          f"numpy {versions['numpy']}, Python {versions['python']}. "
          f"Load average: {load_before:.1f} before, {os.getloadavg()[0]:.1f} after.")

    ratios = dict(zip(FORMS, (time / best[-1] for time in best)))
    limits = {"loop": arguments.least_loop, "own": arguments.least_batched}
    for form, ratio in ratios.items():
        wanted = f" (at least {limits[form]:g} is asked for)" if form in limits else ""
        print(f"Over all pairs nalm is {ratio:,.1f} times as fast as PyTorch {FORMS[form]}{wanted}.")
    if arguments.json:
        def with_names(values):
            return dict(zip([*FORMS, "nalm"], values, strict=True))

        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({
                "pairs": [
                    {"module": pair[0], "operation": pair[1], "torch_windows": windows[pair],
                     "nalm_seconds": {"0": nalm[pair].fixed, str(arguments.pair_iterations): nalm[pair].trained},
                     **{name: with_names(times(pair, statistic)) for name, statistic in STATISTICS.items()}}
                    for pair in pairs
                ],
                "nalm_grid_seconds": {"0": grid.fixed, str(arguments.grid_iterations): grid.trained},
                "core_seconds": {name: with_names(grid_times(statistic)[0]) for name, statistic in STATISTICS.items()},
            }, file, indent=2)
    return 1 if any(ratios[form] < least for form, least in limits.items()) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"\ncompare.py: {failure}", file=sys.stderr)
        sys.exit(2)
