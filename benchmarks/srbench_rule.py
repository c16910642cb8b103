#!/usr/bin/env python3
"""benchmarks/srbench_rule.py: a finished benchmark of formulas, judged by SRBench's rule beside ours.

    nalm bench --task feynman --out feynman
    benchmarks/srbench_rule.py feynman [--seconds 60] [--csv judged.csv]

The rule (La Cava et al. 2021): floats are rounded to 3 decimals (below 1e-4 they are 0), SymPy simplifies truth and
model, and the truth counts as recovered if their difference or their ratio is a constant, and R2 on held-out rows is
above 0.5. It looks at the best formula whatever the verdict. SymPy's symbols are plain there, so that it does not see
that sqrt(a)*sqrt(b) is sqrt(a*b); the column `positive` has the same rule with symbols that are declared positive.

Reads runs.sqlite in the folder. Needs SymPy. What SymPy does not decide in time is not recovered, and is listed.
"""

import argparse
import collections
import csv
import json
import multiprocessing
import pathlib
import re
import sqlite3
import statistics
import sys

import sympy

FUNCTIONS = {"sqrt": sympy.sqrt, "exp": sympy.exp, "log": sympy.log, "sin": sympy.sin, "cos": sympy.cos,
             "tanh": sympy.tanh, "asin": sympy.asin, "acos": sympy.acos, "abs": sympy.Abs, "sign": sympy.sign,
             "min": sympy.Min, "max": sympy.Max, "pi": sympy.pi,
             "negative": lambda x: sympy.Piecewise((1, x < 0), (0, True))}


def read(text, positive):
    names = {name: sympy.Symbol(name, positive=True) if positive else sympy.Symbol(name)
             for name in re.findall(r"[A-Za-z_]\w*", text) if name not in FUNCTIONS}
    # Our symbols win over SymPy's own I, E and S; the e of 1e-5 becomes a symbol that nothing uses.
    return sympy.sympify(text.replace("^", "**"), locals={**FUNCTIONS, **names})


def rounded(expression):
    return expression.xreplace({number: sympy.Integer(0) if abs(number) < 1e-4 else sympy.Float(round(float(number), 3))
                                for number in expression.atoms(sympy.Float)})


def is_recovered(truth, found, positive):
    truth, found = (rounded(sympy.simplify(rounded(read(text, positive)))) for text in (truth, found))
    if found.is_constant():
        return False
    if sympy.simplify(truth - found).is_constant():
        return True
    return bool(sympy.simplify(found / truth).is_constant())


def answer(pipe, *question):
    try:
        pipe.send(is_recovered(*question))
    except Exception as problem:  # whatever SymPy trips over; the formula is listed with it
        pipe.send(f"{type(problem).__name__}: {problem}")


def judge(truth, found, positive, seconds):
    """True, False, or why there is no answer. In a process of its own, because simplify may take for ever."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=answer, args=(theirs, truth, found, positive))
    process.start()
    theirs.close()
    try:
        result = ours.recv() if ours.poll(seconds) else f"no answer in {seconds:g} s"
    except EOFError:
        result = "SymPy crashed"
    process.terminate()
    process.join()
    return result


def runs_of(folder):
    path = pathlib.Path(folder) / "runs.sqlite"
    if not path.exists():
        sys.exit(f"{path} is not there; name the folder that nalm bench --out wrote.")
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        for setting, seed, facts in store.execute("SELECT setting, seed, facts FROM runs ORDER BY id"):
            yield setting, seed, dict(json.loads(facts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=60, help="that SymPy may take for a formula (60)")
    parser.add_argument("--csv", help="write one line per run to this file")
    given = parser.parse_args()
    known = {}  # most seeds find the same formula
    lines, counts = [], collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for setting, seed, facts in runs_of(given.folder):
        line = {"name": facts["name"], "setting": setting, "seed": seed, "ours": int(facts["recovered"]),
                "claim": facts.get("claim", ""), "found": facts["found"], "remark": ""}
        good = float(facts["held_out_error"]) ** 2 < 0.5 and facts["found"] != ""
        for rule in ("plain", "positive"):
            key = facts["formula"], facts["found"], rule
            if good and key not in known:
                known[key] = judge(facts["formula"], facts["found"], rule == "positive", given.seconds)
            result = known[key] if good else False
            line[rule] = int(result is True)
            line["remark"] = line["remark"] or (result if isinstance(result, str) else "")
        lines.append(line)
        for rule in ("ours", "plain", "positive"):
            counts[setting][seed][rule] += line[rule]
        counts[setting][seed]["runs"] += 1
        if line["ours"] != line["plain"] or line["remark"]:
            print(f"{line['name']}, {setting}, seed {seed}: ours {line['ours']}, SRBench {line['plain']}, with positive "
                  f"symbols {line['positive']}{', ' + line['remark'] if line['remark'] else ''}: {line['found']}", flush=True)
    print("\nMedian over the seeds, of how many formulas\n\n| setting | formulas | ours | SRBench | positive symbols |")
    print("|---|--:|--:|--:|--:|")
    for setting, seeds in counts.items():
        median = {rule: statistics.median(seed[rule] for seed in seeds.values()) for rule in ("runs", "ours", "plain", "positive")}
        print(f"| {setting} | {median['runs']:g} | {median['ours']:g} | {median['plain']:g} | {median['positive']:g} |")
    if given.csv:
        with open(given.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
