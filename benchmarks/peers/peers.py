#!/usr/bin/env python3
"""benchmarks/peers/peers.py: nalm and other programs that look for formulas, on the same tables, side by side.

    benchmarks/peers/peers.py run [--limit 10] [--every 6] [--peers nalm,pyoperon] --out build/peers/results.csv
    benchmarks/peers/peers.py table docs/results/peers.csv

Each peer has an environment of its own (build/peers/NAME), made from PyPI on first use. A fit is one process with one
thread; fit_NAME.py gets what arguments.py says, and prints the formula as Python writes it. Every table is fitted with two seeds. `run` goes on where it was stopped.

The rule is the same for all, and looks at numbers only: on fresh rows the formula must have a root mean square error
below 1e-6 of the truth's, in the box of the data and in one 1.3 times as wide.
"""

import argparse
import ast
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "peers"
# What pip installs. Versions are those that were there; the table says which.
PEERS = {
    "nalm": [],
    "pyoperon": [["pyoperon", "scikit-learn", "numpy"]],
    "gplearn": [["gplearn", "scikit-learn", "numpy"]],
    # It builds an extension, and does not say what with.
    "rils-rols": [["pybind11", "setuptools", "wheel", "numpy", "scikit-learn", "sympy"], ["--no-build-isolation", "rils-rols"]],
    "ffx": [["ffx", "six", "scikit-learn<1.4", "numpy<2", "pandas"]],
}
FIELDS = ["peer", "version", "table", "noise", "seed", "seconds", "size", "error", "error_wide", "agrees", "formula"]
FRESH_ROWS, WIDER = 1000, 1.3
EXACT, CLOSE = 1e-6, 1e-2  # shares of the root mean square of the truth


# ---- the tables and their truth ----


def cases(program, every, rows, noises):
    """Every `every`-th formula of data/formulas.csv, as nalm bench writes the tables."""
    folder = WORK / f"tables-{rows}"
    if not (folder / "formulas.csv").exists():
        noise = ",".join(noises)
        subprocess.run([program, "bench", "--task", "formulas", "--part", "all", "--rows", str(rows), "--noise", noise,
                        "--emit", str(folder)], check=True, stdout=subprocess.DEVNULL)
    with open(ROOT / "data" / "formulas.csv", newline="") as file:
        truths = list(csv.DictReader(file))
    for truth in truths[::every]:
        for noise in noises:
            yield truth, noise, folder / f"{truth['name']}-{rows}-{noise}.csv"


def box(truth):
    """Range of every column, spare ones too: 'mu [0.1,0.9); N M [1,5)'."""
    ranges = {}
    for part in filter(None, (truth["ranges"] + ";" + truth["distractors"]).split(";")):
        names, _, numbers = part.strip().partition("[")
        low, high = (float(v) for v in numbers.rstrip(")]").split(","))
        for name in names.split():
            ranges[name] = (low, high)
    return ranges


def value(expression, row):
    """A number, or None where the formula has none."""
    try:
        y = eval(expression, {"__builtins__": {}}, {**FUNCTIONS, **row})  # checked by compiled()
        return float(y) if not isinstance(y, complex) and math.isfinite(y) else None
    except (ArithmeticError, ValueError, TypeError):
        return None


FUNCTIONS = {"sqrt": math.sqrt, "abs": abs, "min": min, "max": max, "log": math.log, "log10": math.log10, "exp": math.exp, "sin": math.sin,
             "cos": math.cos, "tanh": math.tanh, "tan": math.tan,
             "negative": lambda x: 1.0 if x < 0 else 0.0, "pi": math.pi}
ALLOWED = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.Load, ast.operator, ast.unaryop,
           ast.Compare, ast.cmpop, ast.IfExp)


def compiled(text):
    """A formula of somebody else's program: arithmetic and the functions above, nothing that could do anything."""
    tree = ast.parse(text.replace("^", "**"), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED) or (isinstance(node, ast.Call) and not isinstance(node.func, ast.Name)):
            raise ValueError(f"{ast.dump(node)} is no part of a formula")
    return compile(tree, "formula", "eval")


def size(text):
    """Operators, names and numbers; a minus sign before a number is a part of it."""
    count = 0
    for node in ast.walk(ast.parse(text.replace("^", "**"), mode="eval")):
        count += isinstance(node, (ast.BinOp, ast.Call, ast.Constant, ast.Compare, ast.IfExp)) or (
            isinstance(node, ast.Name) and node.id not in FUNCTIONS)
    return count


def fresh_rows(truth, wider):
    """Rows of the box, or of one `wider` times as wide around the same centre, where the truth is finite."""
    draw = random.Random(truth["name"] + str(wider))
    expression, conditions = compiled(truth["formula"]), [compiled(c) for c in filter(None, truth["condition"].split(";"))]
    rows = []
    for _ in range(50 * FRESH_ROWS):
        row = {}
        for name, (low, high) in box(truth).items():
            extra = (wider - 1) * (high - low) / 2
            row[name] = draw.uniform(low - extra, high + extra)
        if any((value(c, row) or 0) <= 0 for c in conditions):
            continue
        y = value(expression, row)
        if y is not None:
            rows.append((row, y))
        if len(rows) == FRESH_ROWS:
            break
    return rows


def error(text, rows):
    """Root mean square error as a share of the truth's root mean square; infinite where there is no value."""
    try:
        expression = compiled(text)
    except (SyntaxError, ValueError, RecursionError):
        return math.inf
    squares = 0.0
    for row, y in rows:
        found = value(expression, row)
        if found is None:
            return math.inf
        squares += (found - y) ** 2
    scale = sum(y * y for _, y in rows)
    return math.sqrt(squares / scale) if scale > 0 else math.inf


# ---- fits ----


def environment(peer):
    """Its interpreter."""
    if peer == "nalm":
        return sys.executable
    place = WORK / peer
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        subprocess.run([os.environ.get("NALM_PYTHON", "/usr/bin/python3"), "-m", "venv", "--clear", str(place)], check=True)
        for packages in PEERS[peer]:
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
        (place / "ready").touch()
    return str(python)


def version_of(peer, python, program):
    if peer == "nalm":
        return subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split()[1]
    code = f"import importlib.metadata as m; print(m.version('{peer}'))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def fit(peer, python, program, table, target, seed, limit):
    """Formula and seconds. A process that does not end by itself is ended 20 s after its limit."""
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TBB_NUM_THREADS")}
    command = [python, str(HERE / f"fit_{peer.replace('-', '_')}.py"), str(table), target, str(seed), str(limit), program]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit + 20, env={**os.environ, **threads})
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]  # some talk before and after
        formula = json.loads(lines[-1])["formula"] if done.returncode == 0 and lines else ""
        if done.returncode:
            print(f"{peer}, {table.name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        formula = ""
    return formula, time.monotonic() - start


def agreement(one, other, rows):
    """Whether two formulas give the same values, to 1e-6."""
    try:
        a, b = compiled(one), compiled(other)
    except (SyntaxError, ValueError):
        return False
    pairs = [(value(a, row), value(b, row)) for row, _ in rows]
    if any(x is None or y is None for x, y in pairs):
        return False
    return math.sqrt(sum((x - y) ** 2 for x, y in pairs)) <= EXACT * math.sqrt(sum(x * x for x, _ in pairs))


def run(options):
    program = str(pathlib.Path(options.program).resolve())
    WORK.mkdir(parents=True, exist_ok=True)
    out = pathlib.Path(options.out)
    done = set()
    if out.exists():
        with open(out, newline="") as file:
            done = {(r["peer"], r["table"], r["noise"]) for r in csv.DictReader(file)}
    with open(out, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for peer in options.peers.split(","):
            python = environment(peer)
            version = version_of(peer, python, program)
            for truth, noise, table in cases(program, options.every, options.rows, options.noise.split(",")):
                if (peer, truth["name"], noise) in done:
                    continue
                near, wide = fresh_rows(truth, 1), fresh_rows(truth, WIDER)
                found = [fit(peer, python, program, table, truth["target"], seed, options.limit) for seed in (1, 2)]
                agrees = bool(found[0][0]) and agreement(found[0][0], found[1][0], near)
                for seed, (formula, seconds) in enumerate(found, 1):
                    writer.writerow({"peer": peer, "version": version, "table": truth["name"], "noise": noise, "seed": seed,
                                     "seconds": f"{seconds:.2f}", "size": size(formula) if formula else "",
                                     "error": f"{error(formula, near):.3g}" if formula else "inf",
                                     "error_wide": f"{error(formula, wide):.3g}" if formula else "inf",
                                     "agrees": int(agrees), "formula": formula})
                file.flush()


def median(numbers):
    ordered = sorted(numbers)
    return ordered[len(ordered) // 2] if ordered else math.nan


def table(options):
    with open(options.csv, newline="") as file:
        rows = list(csv.DictReader(file))
    print("| peer | noise | fits | recovered | within 1 % | of both seeds the same | median s | longest s | median size | where recovered |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for noise in sorted({r["noise"] for r in rows}, key=float):
        for peer in dict.fromkeys(r["peer"] for r in rows):
            mine = [r for r in rows if r["peer"] == peer and r["noise"] == noise]
            if not mine:
                continue
            worst = [max(float(r["error"]), float(r["error_wide"])) for r in mine]
            exact = [r for r, e in zip(mine, worst) if e < EXACT]
            seconds, sizes = [float(r["seconds"]) for r in mine], [int(r["size"]) for r in mine if r["size"]]
            print(f"| {peer} {mine[0]['version']} | {noise} | {len(mine)} | {len(exact)} | {sum(e < CLOSE for e in worst)} | "
                  f"{sum(int(r['agrees']) for r in mine) // 2} of {len(mine) // 2} | {median(seconds):.1f} | {max(seconds):.1f} | "
                  f"{median(sizes)} | {median([int(r['size']) for r in exact]) if exact else ''} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    r = commands.add_parser("run", help="fit every table with every peer")
    r.add_argument("--program", default=str(ROOT / "build" / "release" / "nalm"))
    r.add_argument("--peers", default=",".join(PEERS))
    r.add_argument("--limit", type=int, default=10, help="seconds of a fit")
    r.add_argument("--every", type=int, default=6, help="every so many-th formula of data/formulas.csv")
    r.add_argument("--rows", type=int, default=200)
    r.add_argument("--noise", default="0,0.01", help="as a share of the target's standard deviation")
    r.add_argument("--out", default=str(WORK / "results.csv"))
    r.set_defaults(command=run)
    t = commands.add_parser("table", help="rates from such a file")
    t.add_argument("csv")
    t.set_defaults(command=table)
    options = parser.parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
