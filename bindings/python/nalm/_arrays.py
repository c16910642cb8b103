"""Tables and arrays of others, as the library takes them: float64, row by row. Each way to be wrong has one message."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._nalm import Error


def numbers(values: Any, what: str, dimensions: int) -> np.ndarray:
    """The values as a contiguous float64 array with so many dimensions; copied where they are something else."""
    try:
        array = np.asarray(values)
    except Exception as error:
        raise Error(f"{what}: this is no array of numbers ({error}).") from error
    if array.dtype.kind not in "biuf":
        # A column of Python's numbers is fine; text, dates and complex numbers are not.
        if array.dtype.kind != "O":
            raise Error(f"{what}: these are no real numbers (dtype {array.dtype}); convert them first.")
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise Error(f"{what}: these are no real numbers ({error}); convert them first.") from error
    if array.ndim != dimensions:
        names = {1: "one column of numbers", 2: "a table with rows and columns"}
        raise Error(f"{what}: {names[dimensions]} is needed, and this has the shape {array.shape}.")
    return np.ascontiguousarray(array, dtype=np.float64)


def table(data: Any) -> tuple[list[str], np.ndarray]:
    """Names and values of a DataFrame (pandas, polars or alike) or a dict of columns."""
    if hasattr(data, "keys") and not hasattr(data, "columns"):
        names = list(data.keys())
    elif hasattr(data, "columns") and hasattr(data, "__getitem__"):
        names = list(data.columns)
    else:
        raise Error("the table must be a DataFrame or a dict of columns, so that columns have names.")
    texts = [str(name) for name in names]
    twice = {name for name in texts if texts.count(name) > 1}
    if twice:
        raise Error(f"there are several columns \"{min(twice)}\"; a formula needs different names.")
    if not names:
        raise Error("the table is empty: it has no columns.")
    columns = [numbers(data[name], f'the column "{text}"', 1) for name, text in zip(names, texts)]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise Error(f"the columns have different lengths: {', '.join(map(str, sorted(lengths)))}.")
    if lengths == {0}:
        raise Error("the table is empty: it has no rows.")
    return texts, np.ascontiguousarray(np.column_stack(columns))


def rows(data: Any, columns: Sequence[str], what: str = "the rows") -> np.ndarray:
    """Rows with these columns: by name from a table, by place from an array."""
    if hasattr(data, "keys") or hasattr(data, "columns"):
        names, values = table(data)
        missing = [name for name in columns if name not in names]
        if missing:
            raise Error(f"the table has no column \"{missing[0]}\"; its columns are {', '.join(names)}.")
        return np.ascontiguousarray(values[:, [names.index(name) for name in columns]])
    values = numbers(data, what, 2)
    if values.shape[1] != len(columns):
        raise Error(f"{what} have {values.shape[1]} columns, and {len(columns)} are needed: {', '.join(columns)}.")
    return values
