"""nalm.fit and what comes of it."""

import json
import pickle
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from conftest import write_csv

import nalm


def test_finds_a_product(product):
    fit = nalm.fit(product, "y")
    assert str(fit.formula) == "a*b"
    assert repr(fit.formula) == "y = a*b"
    assert fit.verdict == "law" and fit.is_law
    assert np.array_equal(fit.predict(product), product["a"] * product["b"])


def test_functions(product):
    product["y"] = product["a"] * np.sin(product["b"])
    assert str(nalm.fit(product, "y", functions="sin,cos").formula) == "a*sin(b)"
    assert str(nalm.fit(product, "y", functions=["sin"]).formula) == "a*sin(b)"
    with pytest.raises(nalm.Error, match='"sinh" is not a function'):
        nalm.fit(product, "y", functions="sinh")


def test_units(product):
    product["y"] = 9.81 * product["a"] * product["b"]
    fit = nalm.fit(product, "y", units={"a": "kg", "b": "m", "y": "J"})
    assert [c.unit for c in fit.formula.constants] == ["m/s^2"]
    assert fit.units == {"a": "kg", "b": "m", "y": "J"}
    assert nalm.fit(product, "y").formula.constants[0].unit == ""
    with pytest.raises(nalm.Error, match='the unit of the column "a": "furlong" is not a unit'):
        nalm.fit(product, "y", units={"a": "furlong", "b": "m", "y": "J"})


def test_is_the_same_as_the_program(product, program, tmp_path):
    random = np.random.default_rng(2)
    product["y"] = 0.7 * product["a"] / (1 + product["b"] ** 2) + 0.01 * random.normal(size=40)
    data, model = write_csv(tmp_path / "data.csv", product), tmp_path / "model.json"
    subprocess.run([program, "fit", data, "--target", "y", "--seed", "3", "--quiet", "--format", "json", "-o", model],
                   stdout=subprocess.DEVNULL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nalm.NotTrusted)
        fit = nalm.fit(product, "y", seed=3)
    assert model.exists(), "the program found no formula to write"
    theirs, ours = json.loads(model.read_text()), json.loads(fit.to_json())
    for fields in (theirs["fit"], ours["fit"]):
        for name in ("seconds", "command", "data"):  # what may differ
            fields.pop(name)
        fields["version"] = fields["version"].split(" (")[0]  # without the compiler, which is another one under a sanitizer
    assert ours == theirs
    predicted = subprocess.run([program, "predict", model, data], capture_output=True, text=True, check=True).stdout
    assert [float(line) for line in predicted.splitlines()[1:]] == list(fit.predict(product))


def test_formula_elsewhere(product):
    formula = nalm.fit(product, "y").formula
    assert formula.latex() == "y = a b"
    assert formula._repr_latex_() == f"${formula.latex()}$"
    assert "return" in formula.python() and "double" in formula.c()
    names = {}
    exec(formula.python(), names)
    assert names["y"](2.0, 3.0) == 6.0
    exec(formula.numpy(), names)
    assert np.array_equal(names["y"](np.array([1.0, 2.0]), 3.0), [3.0, 6.0])
    assert formula(a=2, b=3) == 6.0
    assert np.array_equal(formula(a=[1, 2], b=3), [3.0, 6.0])
    with pytest.raises(nalm.Error, match='needs a value for "b"'):
        formula(a=1)


def test_sympy(product):
    sympy = pytest.importorskip("sympy")
    a, b = sympy.symbols("a b")
    expression = nalm.fit(product, "y").formula.sympy()
    values = expression.subs({s: 2 if s.name == "a" else 3 for s in expression.free_symbols})
    assert float(values) == 6.0


def test_constants_have_intervals():
    random = np.random.default_rng(5)
    x = random.uniform(1, 4, 60)
    fit = nalm.fit({"x": x, "y": 9.81 * x * (1 + 0.001 * random.normal(size=60))}, "y")
    (constant,) = [c for c in fit.formula.constants if abs(c.value) != 1][:1]
    assert constant.low <= constant.estimate <= constant.high
    assert constant.low < 9.83 and constant.high > 9.79


def test_what_is_no_law_warns():
    random = np.random.default_rng(1)
    noise = {"a": random.normal(size=40), "b": random.normal(size=40), "y": random.normal(size=40)}
    with pytest.warns(nalm.NotTrusted):
        fit = nalm.fit(noise, "y")
    assert fit.verdict != "law"


def test_a_column_that_is_the_target_is_the_formula(product):
    product["copy"] = product["y"].copy()
    fit = nalm.fit(product, "y")
    assert str(fit.formula) == "copy"
    assert any("equal to the target" in note for note in fit.notes)


def test_pickles_and_files(product, tmp_path):
    fit = nalm.fit(product, "y")
    again = pickle.loads(pickle.dumps(fit))
    assert again.to_json() == fit.to_json() and again.formula == fit.formula
    fit.save(tmp_path / "fit.json")
    assert nalm.Fit.load(tmp_path / "fit.json").formula == fit.formula
    fit.report(tmp_path / "fit.html")
    assert "<html" in (tmp_path / "fit.html").read_text()


def test_candidates(product):
    candidates = nalm.fit(product, "y").candidates
    assert len(candidates) >= 1
    formulas = candidates["formula"] if hasattr(candidates, "columns") else [c["formula"] for c in candidates]
    assert "a*b" in list(formulas)


WRONG = {
    "text": (lambda t: {**t, "a": ["x"] * 40}, 'the column "a": these are no real numbers'),
    "complex": (lambda t: {**t, "a": t["a"] + 1j}, "no real numbers"),
    "dates": (lambda t: {**t, "a": np.full(40, "2020-01-01", dtype="datetime64[D]")}, "no real numbers"),
    "two dimensions": (lambda t: {**t, "a": np.ones((40, 2))}, "one column of numbers is needed"),
    "lengths": (lambda t: {**t, "a": t["a"][:30]}, "different lengths: 30, 40"),
    "infinite": (lambda t: {**t, "a": np.where(np.arange(40) == 3, np.inf, t["a"])}, 'row 4, column "a"'),
    "no columns": (lambda t: {}, "it has no columns"),
    "no rows": (lambda t: {"a": [], "y": []}, "it has no rows"),
    "no target": (lambda t: {"a": t["a"], "b": t["b"]}, 'no column "y" for the target'),
    "an array": (lambda t: np.ones((40, 3)), "DataFrame or a dict"),
    "a constant": (lambda t: {**t, "y": np.ones(40)}, "in every row"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_tables_have_one_message(product, case):
    make, message = WRONG[case]
    with pytest.raises(nalm.Error) as raised:
        nalm.fit(make(product), "y")
    assert message in str(raised.value)
    assert issubclass(nalm.Error, ValueError)


def test_wrong_options(product):
    with pytest.raises(nalm.Error, match="powers"):
        nalm.fit(product, "y", powers="all")
    with pytest.raises(nalm.Error, match="x9"):
        nalm.fit(product, "y", use=["x9"])


def test_columns_that_are_not_contiguous_are_copied(product):
    table = np.column_stack([product["a"], product["b"], product["y"]])
    strided = {"a": np.repeat(table, 2, axis=0)[::2, 0], "b": table[:, 1], "y": table[:, 2]}
    assert not strided["a"].flags["C_CONTIGUOUS"]
    assert nalm.fit(strided, "y").formula == nalm.fit(product, "y").formula


def test_data_frames(product):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(product)
    assert str(nalm.fit(frame, "y").formula) == "a*b"
    twice = frame.rename(columns={"b": "a"})
    with pytest.raises(nalm.Error, match='several columns "a"'):
        nalm.fit(twice, "y")
    with pytest.raises(nalm.Error, match="no rows"):
        nalm.fit(frame[:0], "y")


def test_control_c_leaves_the_best_so_far():
    script = textwrap.dedent("""
        import _thread, signal, threading, warnings
        import numpy as np, nalm
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C, and so would this one
        warnings.simplefilter("ignore")
        random = np.random.default_rng(0)
        table = {f"x{k}": random.uniform(1, 2, 20000) for k in range(12)}
        table["y"] = np.sin(sum(k * table[f"x{k}"] for k in range(12)))
        threading.Timer(0.3, _thread.interrupt_main).start()
        try:
            nalm.fit(table, "y")
        except KeyboardInterrupt as stopped:
            print("stopped", "none" if stopped.best is None else stopped.best.cut)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240)
    assert done.stdout.startswith("stopped"), done.stdout + done.stderr


def test_other_threads_run_while_it_fits():
    import threading

    random = np.random.default_rng(3)
    a, b = random.uniform(1, 3, 4000), random.uniform(1, 2, 4000)
    counted, stop = [0], threading.Event()

    def count():
        while not stop.wait(0.001):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nalm.NotTrusted)
        seconds = nalm.fit({"a": a, "b": b, "y": a * b + a / b + random.normal(size=4000)}, "y").seconds
    stop.set()
    thread.join()
    assert counted[0] > 3 or seconds < 0.05  # with the GIL held it would be 0
