#!/usr/bin/env python3
"""scripts/feynman_rates.py TABLE.csv: rates of a benchmark of formulas, per noise and seed, and what was not found.

    nalm bench --task feynman --noise 0,0.01,0.1 --out feynman.csv
    scripts/feynman_rates.py feynman.csv

Prints Markdown. Standard library only.
"""
import collections
import csv
import statistics
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines:
        groups[float(line["noise"])][int(line["seed"])].append(line)
    print("| noise | formulas | recovered, by seed | median | laws that are another formula, by seed | of these false laws "
          "| median s | longest s |\n|---|--:|---|--:|---|---|--:|--:|")
    for noise, seeds in sorted(groups.items()):
        count = {seed: sum(line["recovered"] == "1" for line in of_seed) for seed, of_seed in sorted(seeds.items())}
        wrong = [sum(line["verdict"] == "another formula" for line in seeds[seed]) for seed in count]
        false = [sum(line["false_law"] == "1" for line in seeds[seed]) for seed in count]
        seconds = [float(line["seconds"]) for of_seed in seeds.values() for line in of_seed]
        sizes = {len(of_seed) for of_seed in seeds.values()}
        print(f"| {noise:g} | {min(sizes)} | {', '.join(map(str, count.values()))} | **{statistics.median(count.values()):g}** "
              f"| {', '.join(map(str, wrong))} | {', '.join(map(str, false))} | {statistics.median(seconds):.1f} "
              f"| {max(seconds):.1f} |")
    print("\nNot recovered, with the number of seeds and what was found instead by the first of them:\n")
    for noise, seeds in sorted(groups.items()):
        lost = collections.defaultdict(list)
        for _, of_seed in sorted(seeds.items()):
            for line in of_seed:
                if line["recovered"] != "1":
                    lost[line["name"]].append(line)
        for name, missed in lost.items():
            print(f"- noise {noise:g}, {name} `{missed[0]['formula']}`, {len(missed)} of {len(seeds)}: "
                  f"{missed[0]['verdict']}; `{missed[0]['found']}`")


if __name__ == "__main__":
    main()
