#!/usr/bin/env python3
"""The tables of docs/guide/2-which-module.md, as Markdown.

  scripts/module_properties.py success docs/results/primer.csv docs/results/beyond-primer.csv docs/results/benchmarks.md
  scripts/module_properties.py exact build/release/nalm
"""
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = [("positive", lambda lo, hi: lo > 0), ("negative", lambda lo, hi: hi < 0), ("both", lambda lo, hi: lo < 0 < hi)]


def success(csvs, benchmarks):
    cells, order = {}, []
    for path in csvs:
        for row in csv.DictReader(open(path)):
            lo, hi = map(float, re.findall(r"-?[\d.]+", row["range"]))
            kind = next(name for name, holds in KINDS if holds(lo, hi))
            # the first file that has a module counts
            cells.setdefault((row["module"], row["operation"], kind), {}).setdefault(row["range"], 100 * float(row["success"]))
            if row["module"] not in order:
                order.append(row["module"])
    cost = dict(re.findall(r"^\| (\S+) \| (\d+), \d+ \|", Path(benchmarks).read_text(), re.M))
    print("| module | + | − | × | ÷ | ns per iteration |\n|---|--:|--:|--:|--:|--:|")
    for module in order:
        columns = []
        for operation in ("add", "sub", "mul", "div"):
            means = []
            for kind, _ in KINDS:
                values = cells.get((module, operation, kind), {}).values()
                if values:
                    means.append(f"{sum(values) / len(values):.0f}")
            columns.append(" / ".join(means))
        print(f"| {module.replace('*', chr(92) + '*')} | {' | '.join(columns)} | {cost.get(module, '')} |")


# Exact weights of x1*x2 and of x1/x2.
FAR = 40.0
def nac(a, b):
    return {"W_hat": [[FAR * a], [FAR * b]], "M_hat": [[FAR], [FAR]]}
EXACT = {
    "NAC*": (nac(1, 1), nac(1, -1)),
    "iNALU": tuple({"W_hat_A": [[0], [0]], "M_hat_A": [[0], [0]], "W_hat_M": [[FAR], [FAR * b]], "M_hat_M": [[FAR], [FAR]], "g": [-FAR]} for b in (1, -1)),
    "NMU": ({"W": [[1], [1]]}, None),
    "NPU": tuple({"W_re": [[1], [b]], "W_im": [[0], [0]], "g": [1, 1]} for b in (1, -1)),
    "RealNPU": tuple({"W_re": [[1], [b]], "g": [1, 1]} for b in (1, -1)),
    "NRU": tuple({"W": [[1], [b]]} for b in (1, -1)),
    "NRU-log": tuple({"W": [[1], [b]]} for b in (1, -1)),
    "NMRU": ({"W": [[1], [1]], "R": [[0], [0]]}, {"W": [[1], [0]], "R": [[0], [1]]}),
}
ROWS = [(-2, 3), (0, 3), (6, 0)]


def exact(program):
    print("| module | −2 · 3 | 0 · 3 | −2 ÷ 3 | 0 ÷ 3 | 6 ÷ 0 |\n|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.csv")
        for module, models in EXACT.items():
            columns = []
            for model, of in zip(models, (ROWS[:2], ROWS)):
                if model is None:
                    columns += ["–"] * len(of)
                    continue
                file = Path(folder, "model.json")
                layer = {"module": module, "inputs": 2, "outputs": 1, "parameters": model}
                file.write_text(json.dumps({"format": "nalm-model", "version": 1, "layers": [layer]}))
                rows.write_text("".join(f"{a},{b}\n" for a, b in of))
                out = subprocess.run([program, "eval", str(file), str(rows)], capture_output=True, text=True)
                if out.returncode:
                    sys.exit(out.stderr)
                columns += [f"{float(line):.4g}" for line in out.stdout.split()[1:]]
            print(f"| {module.replace('*', chr(92) + '*')} | {' | '.join(columns)} |")


if len(sys.argv) > 3 and sys.argv[1] == "success":
    success(sys.argv[2:-1], sys.argv[-1])
elif len(sys.argv) == 3 and sys.argv[1] == "exact":
    exact(sys.argv[2])
else:
    sys.exit(__doc__)
