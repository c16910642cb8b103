"""The notebooks of examples/notebooks run from top to bottom, and draw something."""

import importlib.util
import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("matplotlib")

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "examples" / "notebooks"
NEEDS = {"pytorch": ["torch"], "formula": ["pandas"], "benchmark": ["pandas"]}


def test_every_notebook_is_known():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_runs(name, tmp_path):
    if missing := [package for package in NEEDS[name] if importlib.util.find_spec(package) is None]:
        pytest.skip(f"{', '.join(missing)} is missing")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
