#!/usr/bin/env python3
"""What stopping early would change in the survey's grid: successes by the row at which a run is judged.

usage: nalm table --series series.csv && scripts/early_stopping.py series.csv data/primer_single_module.csv
"""
import collections
import csv
import sys

EPSILON = 1e-5
TEST = {"U[-20,-10)": (20, 40), "U[-2,-1)": (2, 6), "U[-1.2,-1.1)": (1.2, 6.1), "U[-0.2,-0.1)": (0.2, 2),
        "U[-2,2)": (2, 6), "U[0.1,0.2)": (0.2, 2), "U[1,2)": (2, 6), "U[1.1,1.2)": (1.2, 6), "U[10,20)": (20, 40)}


def threshold(operation, setting):
    """The error of the right model with both weights off by EPSILON, on magnitudes from a to b."""
    a, b = TEST[setting]
    square, mean = (a * a + a * b + b * b) / 3, (a + b) / 2
    if operation in ("add", "sub"):
        return EPSILON**2 * (2 * square + 2 * mean * mean)
    if operation == "mul":
        return square**2 * (1 - (1 - EPSILON) ** 2) ** 2
    return square / (a * b) * (1 - (1 - EPSILON) / (1 + EPSILON)) ** 2


def judged_row(validation, patience):
    best = 0
    for row, error in enumerate(validation):
        if error < validation[best]:
            best = row
        elif row - best >= patience:
            break
    return best


series, published = sys.argv[1:]
runs = collections.OrderedDict()
with open(series) as file:
    for row in csv.DictReader(file):
        key = (row["module"], row["operation"], row["range"], row["seed"])
        runs.setdefault(key, []).append((float(row["validation_mse"]), float(row["test_mse"])))
with open(published) as file:
    papers = {(r["module"], r["operation"], r["range"]): round(25 * float(r["success"])) for r in csv.DictReader(file)}

RULES = {"smallest validation error of all rows": lambda v: judged_row(v, len(v) + 1), "last row": lambda v: len(v) - 1}
for patience in (10, 5, 3, 1):
    RULES[f"stopped after {patience} without a smaller one"] = lambda v, p=patience: judged_row(v, p)
modules = list(dict.fromkeys(key[0] for key in runs))
print("| judged at | runs solved | " + " | ".join(modules) + " | cells equal to the paper's |")
print("|---|--:|" + "--:|" * len(modules) + "--:|")
for name, rule in RULES.items():
    cells, of_module = collections.Counter(), collections.Counter()
    for (module, operation, setting, _), rows in runs.items():
        solved = rows[rule([v for v, _ in rows])][1] < threshold(operation, setting)
        cells[(module, operation, setting)] += solved
        of_module[module] += solved
    equal = sum(cells[key] == count for key, count in papers.items())
    counts = " | ".join(str(of_module[m]) for m in modules)
    print(f"| {name} | {sum(of_module.values())} | {counts} | {equal} of {len(papers)} |")
