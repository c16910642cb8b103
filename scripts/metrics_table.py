#!/usr/bin/env python3
"""One line per pair of module and operation, from the CSV of `nalm table DIR --metric M --format csv`.

    metrics_table.py all.csv mape.csv correlation.csv

Rates are means over the ranges; "% of start" is the median over ranges of the medians; test errors are the smallest and
the largest median of a range. docs/results/metrics.md has the result for the survey's grid.
"""
import csv
import statistics
import sys


def read(path):
    pairs = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            pairs.setdefault((row["operation"], row["module"]), []).append(row)
    return pairs


def percent(rows, column):
    return f"{100 * statistics.mean(float(row[column]) for row in rows):.1f}"


if len(sys.argv) != 4:
    sys.exit(__doc__)
everything, mape, correlation = map(read, sys.argv[1:])
print("| operation | module | success % | below 1e-5 % | % of start | test error, medians | relative error % | correlation % |")
print("|---|---|--:|--:|--:|--:|--:|--:|")
for (operation, module), rows in everything.items():
    start = statistics.median(float(row["trask_median"]) for row in rows)
    errors = [float(row["test_mse_median"]) for row in rows]
    name = module.replace("*", "\\*")
    print(f"| {operation} | {name} | {percent(rows, 'success')} | {percent(rows, 'threshold')} | {start:.2g} | "
          f"{min(errors):.1e} to {max(errors):.1e} | {percent(mape[operation, module], 'success')} | "
          f"{percent(correlation[operation, module], 'success')} |")
