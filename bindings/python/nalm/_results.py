"""The benchmark, and what its stores say."""

from __future__ import annotations

import csv
import io
import os
from html import escape
from typing import Any, Sequence

import numpy as np

from . import _nalm, _progress


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables are DataFrames, which need pandas: pip install pandas.") from error
    return pandas


def _listed(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, range) and value.step == 1 and len(value) > 0:
        return f"{value.start}..{value.stop - 1}"
    if isinstance(value, (list, tuple, np.ndarray, range)):
        return ",".join(str(v) for v in value)
    return str(value)


class Results:
    """A store of results in a folder, of this package or of the program ``nalm bench``."""

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = os.fspath(folder)
        self.info: dict[str, Any] = _nalm.info(self.folder)

    def __repr__(self) -> str:
        about = self.info
        missing = f", {about['missing']} of them missing" if about["missing"] else ""
        return f"Results({self.folder!r}): {about['task']}, preset {about['preset']}, {about['runs']} runs{missing}"

    def __str__(self) -> str:
        return self.text()

    def text(self, metric: str = "", format: str = "terminal", paper_intervals: bool = False) -> str:
        """A table as ``nalm table`` prints it: for the terminal, as markdown, latex, csv or json."""
        return _nalm.table(self.folder, metric, format, paper_intervals)

    def _repr_html_(self) -> str:
        rows = list(csv.reader(io.StringIO(self.text(format="csv"))))
        head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
        return f"<p>{escape(repr(self))}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def table(self, metric: str = "", paper_intervals: bool = False) -> Any:
        """The columns of ``nalm table --format csv`` as a DataFrame."""
        return _pandas().read_csv(io.StringIO(self.text(metric, "csv", paper_intervals)))

    def series(self) -> Any:
        """Every logged row as a DataFrame: one line per measure."""
        pandas = _pandas()
        s = _nalm.series(self.folder)
        model_word, setting_word = s["words"]
        frame: dict[str, Any] = {}
        for name, texts in zip((model_word, "operation", setting_word), s["cells"]):
            kinds = list(dict.fromkeys(texts))
            codes = np.array([kinds.index(text) for text in texts], dtype=np.int32)
            frame[name] = pandas.Categorical.from_codes(codes[s["cell"]] if len(codes) else [], categories=kinds)
        frame["seed"] = s["seed"]
        frame["step"] = s["step"]
        frame["measure"] = pandas.Categorical.from_codes(s["measure"], categories=s["measures"])
        frame["value"] = s["value"]
        return pandas.DataFrame(frame)

    def write_series(self, path: str | os.PathLike) -> None:
        """The file that ``nalm table --series`` writes."""
        _nalm.write_series(self.folder, os.fspath(path))

    def compare(self, *others: Results | str | os.PathLike, all: bool = False) -> Comparison:
        """With what was published or, if others are given, with their runs."""
        folders = [self.folder, *(o.folder if isinstance(o, Results) else os.fspath(o) for o in others)]
        return Comparison(*_nalm.compare(folders, all))

    def report(self, path: str | os.PathLike) -> None:
        """Writes the HTML page of ``nalm report``."""
        _nalm.write_file(os.fspath(path), _nalm.report_page(self.folder))

    def resume(self, *, threads: int = 0, progress: bool | None = None) -> Results:
        """Goes on with a benchmark that was interrupted."""
        _run(lambda calls: _nalm.resume(self.folder, threads, calls), progress)
        return Results(self.folder)


class Comparison:
    """What a comparison says; true if the results agree."""

    def __init__(self, text: str, agrees: bool) -> None:
        self.text = text
        self.agrees = agrees

    def __bool__(self) -> bool:
        return self.agrees

    def __repr__(self) -> str:
        return self.text


def _run(work: Any, progress: bool | None) -> None:
    shown = _progress.bar(progress)
    try:
        raised = work(_progress.calls(shown, lambda done, total: f"{done} of {total} runs"))
    finally:
        if shown is not None:
            shown.close()
    if raised is not None:
        raise raised


def bench(task: str = "", *, out: str | os.PathLike = "nalm-results", preset: str = "",
          modules: str | Sequence[str] | None = None, operations: str | Sequence[str] | None = None,
          settings: str | Sequence[Any] | None = None, seeds: Any = None, iterations: int | None = None,
          log_every: int | None = None, learning_rate: float | None = None, recipe: Any = None, threads: int = 0,
          progress: bool | None = None, **options: Any) -> Results:
    """Runs a task into a folder, as ``nalm bench``: the survey's benchmark, or what ``task`` names.

    Other keywords are options of the task, such as inputs=10. Ctrl-C keeps what is finished: nalm.read(out).resume().
    """
    import json

    asked = {"task": task, "preset": preset, "modules": _listed(modules), "operations": _listed(operations),
             "settings": _listed(settings), "seeds": _listed(seeds),
             "recipe": recipe if isinstance(recipe, str) else json.dumps(recipe) if recipe else ""}
    own = {name.replace("_", "-"): _listed(value) for name, value in options.items()}
    folder = os.fspath(out)
    _run(lambda calls: _nalm.bench(folder, asked, iterations, log_every, learning_rate, own, threads, calls), progress)
    return Results(folder)


def read(folder: str | os.PathLike = "nalm-results") -> Results:
    """Opens results of this package or of the program."""
    return Results(folder)
