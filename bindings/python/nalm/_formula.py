"""A formula: to read, to typeset, to evaluate, to take elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _arrays
from ._nalm import Error, Expression


class Constant(NamedTuple):
    """A number in a fitted formula, with its 99 % interval."""

    value: float
    estimate: float
    low: float
    high: float
    snapped: bool
    unit: str = ""  # empty for a pure number, and where no units are given


class Formula:
    """An expression in columns, with the name of what it gives.

    ``formula(a=2, b=[1, 2, 3])`` or ``formula(table)`` evaluates it; ``str(formula)`` is its right-hand side.
    """

    def __init__(self, text: str, target: str = "y", columns: Sequence[str] | None = None,
                 constants: Sequence[Constant] = ()) -> None:
        self._expression = Expression(text)
        self.target = target
        self.variables: list[str] = self._expression.variables()
        self.columns = list(columns) if columns is not None else list(self.variables)
        self.constants: list[Constant] = [Constant(*c) for c in constants]

    def __str__(self) -> str:
        return str(self._expression)

    def __repr__(self) -> str:
        return self._export("text")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and str(self) == str(other) and self.target == other.target

    def __hash__(self) -> int:
        return hash((str(self), self.target))

    def __reduce__(self) -> tuple:
        return Formula, (str(self), self.target, self.columns, [tuple(c) for c in self.constants])

    def _export(self, language: str) -> str:
        return self._expression.export(language, self.target, self.columns)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def latex(self) -> str:
        return self._export("latex")

    def mathml(self) -> str:
        return self._export("mathml")

    def python(self) -> str:
        """A Python function of scalars, as text."""
        return self._export("python")

    def numpy(self) -> str:
        """A Python function of NumPy arrays, as text."""
        return self._export("numpy")

    def c(self) -> str:
        """A function in C, as text."""
        return self._export("c")

    def spreadsheet(self) -> str:
        return self._export("spreadsheet")

    def sympy(self) -> Any:
        """The right-hand side as an expression of SymPy, with exact numbers."""
        import sympy

        program = self._export("sympy")
        names: dict[str, Any] = {}
        exec(compile(program, "<formula>", "exec"), names)  # written by the library, names made safe by it
        made = [value for name, value in names.items() if isinstance(value, (sympy.Basic, sympy.Eq)) and name != "_"]
        return made[-1]

    def evaluate(self, rows: Any, columns: Sequence[str] | None = None) -> np.ndarray:
        """The value for every row of a table, or of an array with these columns."""
        names = list(columns) if columns is not None else self.columns
        if columns is None and (hasattr(rows, "keys") or hasattr(rows, "columns")):
            if not self.variables:
                count = len(_arrays.table(rows)[1])
                return self._expression.evaluate([], np.empty((count, 0)))
            names = self.variables
        return self._expression.evaluate(names, _arrays.rows(rows, names))

    def __call__(self, table: Any = None, /, **values: Any) -> np.ndarray | float:
        if table is not None:
            if values:
                raise Error("a formula takes a table or values by name, not both.")
            return self.evaluate(table)
        missing = [name for name in self.variables if name not in values]
        if missing:
            raise Error(f"the formula needs a value for \"{missing[0]}\".")
        arrays = np.broadcast_arrays(*(np.asarray(values[name], dtype=np.float64) for name in self.variables))
        shape = arrays[0].shape if arrays else ()
        rows = np.column_stack([a.ravel() for a in arrays]) if arrays else np.empty((1, 0))
        result = self._expression.evaluate(self.variables, np.ascontiguousarray(rows)).reshape(shape)
        return float(result) if result.ndim == 0 else result
