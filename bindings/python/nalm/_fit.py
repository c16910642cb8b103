"""A table in, a formula out."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Mapping, Sequence

import numpy as np

from . import _arrays, _nalm, _progress
from ._formula import Constant, Formula


class NotTrusted(UserWarning):
    """The best formula is not a law: nothing is claimed about it outside of the data, or at all."""


class Fit:
    """What a fit found. It is a model file, which ``nalm predict`` and ``nalm report`` read, and pickles as one."""

    def __init__(self, text: str) -> None:
        self._text = text
        model = json.loads(text)
        if "fit" not in model:
            raise _nalm.Error("this model file has no entry \"fit\"; make one with nalm.fit or nalm fit --format json.")
        self._fit: dict[str, Any] = model["fit"]
        self.columns: list[str] = model["columns"]
        self.target: str = self._fit["target"]
        self.reason: str = self._fit["verdict"]
        judgement = self._fit.get("judgement", {})
        self.verdict: str = judgement.get("verdict", "law" if self._fit["found"] else "none")
        self.errors: dict[str, dict[str, float]] = self._fit["errors"]
        self.notes: list[str] = self._fit["notes"]
        self.cut: bool = self._fit["cut"]
        self.seconds: float = self._fit["seconds"]
        constants = [Constant(*(c.get(name, "") if name == "unit" else c[name] for name in Constant._fields))
                     for c in self._fit["constants"]]
        self.units: dict[str, str] = self._fit.get("units", {})
        self.formula = Formula(model["formula"], self.target, self.columns, constants)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Fit:
        with open(path, encoding="utf-8") as file:
            return cls(file.read())

    def save(self, path: str | os.PathLike) -> None:
        _nalm.write_file(os.fspath(path), self._text)

    def to_json(self) -> str:
        return self._text

    def __reduce__(self) -> tuple:
        return Fit, (self._text,)

    def __repr__(self) -> str:
        return f"{self.formula!r}    ({self.verdict}: {self.reason})"

    def _repr_latex_(self) -> str:
        return self.formula._repr_latex_()

    @property
    def is_law(self) -> bool:
        return self.verdict == "law"

    @property
    def candidates(self) -> Any:
        """The formulas between small and exact, smallest first: a DataFrame, or a list of dicts without pandas."""
        rows = []
        for c in self._fit["candidates"]:
            row = {name: c[name] for name in ("formula", "size", "chosen", "agreeing")}
            row["verdict"] = c.get("judgement", {}).get("verdict", "")
            for name in ("train", "held_out", "outside"):
                row[f"{name}_rmse"] = c[name]["rmse"] if c[name]["rows"] else None
            rows.append(row)
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows)

    def predict(self, rows: Any) -> np.ndarray:
        """What the formula gives for the rows of a table, found by name, or of an array with the columns of the fit."""
        return self.formula.evaluate(rows)

    def report(self, path: str | os.PathLike) -> None:
        """Writes an HTML page, the one of ``nalm report``."""
        name = os.path.basename(os.fspath(path))
        _nalm.write_file(os.fspath(path), _nalm.fit_page(self._text, name))


def _search(values: np.ndarray, columns: list[str], target: str, progress: bool | None, *, inputs: Sequence[str],
            use: Sequence[str], stack: str | None, functions: str | Sequence[str], units: Mapping[str, str] | None,
            **options: Any) -> tuple[Fit | None, str, BaseException | None]:
    """The fit, or why there is none; and what was raised meanwhile, such as KeyboardInterrupt."""
    shown = _progress.bar(progress)

    def words(restarts: int, best: str) -> str:
        return f"{restarts} restarts" + (f", best so far {best}" if best else "")

    try:
        text, why_not, raised = _nalm.fit(
            values, columns, target=target, inputs=list(inputs), use=list(use), stack=stack or "",
            functions=functions if isinstance(functions, str) else ",".join(functions),
            units=[(str(column), str(unit)) for column, unit in (units or {}).items()],
            command=f"nalm.fit(table, {target!r}, seed={options['seed']})", progress=_progress.calls(shown, words),
            **options)
    finally:
        if shown is not None:
            shown.close()
    return (Fit(text) if text is not None else None), why_not, raised


def _warn_unless_law(found: Fit, level: int) -> None:
    if not found.is_law:
        warnings.warn(f"{found.target}: {found.verdict}, not a law: {found.reason}.", NotTrusted, stacklevel=level + 1)


def fit(table: Any, target: str, *, inputs: Sequence[str] = (), stack: str | None = None, powers: str = "half",
        functions: str | Sequence[str] = (), units: Mapping[str, str] | None = None, use: Sequence[str] = (),
        weights: str = "", sigma: str = "", relative: bool = False, robust: bool = False,
        seed: int = 1, threads: int = 0, time_limit: float = 0, progress: bool | None = None) -> Fit:
    """Finds the formula behind a table: a DataFrame or a dict of columns.

    inputs: columns that it may use (all others if empty); use: columns that must appear; powers: "integer", "half" or
    "any"; functions: some of "exp", "log", "sin", "cos", "tanh", "asin", "acos", or "all"; units: those of the inputs and
    the target, such as {"m": "kg", "v": "m/s", "E": "J"}: formulas that fit them are looked for first, and constants have
    units; stack: train only this one, such as "NAU:2,NMU:1". How much a row counts: a column with weights, a column with
    the standard errors (sigma), or in proportion to the target (relative); robust leaves out rows that are far off.
    The same table and seed give the same bits as ``nalm fit``.

    What is not a law gives the warning NotTrusted. Ctrl-C raises KeyboardInterrupt, whose ``best`` is the Fit so far.
    """
    columns, values = _arrays.table(table)
    found, why_not, raised = _search(
        values, columns, str(target), progress, inputs=inputs, use=use, stack=stack, powers=powers,
        functions=functions, units=units, weights=weights, sigma=sigma, relative=relative, robust=robust, seed=seed,
        threads=threads, time_limit=time_limit)
    if raised is not None:
        raised.best = found  # type: ignore[attr-defined]
        raise raised
    if found is None:
        raise _nalm.Error(f"{why_not}.")
    _warn_unless_law(found, 2)
    return found
