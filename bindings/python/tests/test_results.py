"""The benchmark from Python, over the program's stores."""

import subprocess

import numpy as np
import pytest

import nalm

pandas = pytest.importorskip("pandas")

ASKED = dict(modules="NAU,NMU", operations="add,mul", settings="6", seeds="0..2", iterations=3000)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return nalm.bench(out=tmp_path_factory.mktemp("python") / "results", **ASKED)


@pytest.fixture(scope="module")
def theirs(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("program") / "results"
    subprocess.run([program, "bench", "--quiet", "--out", folder,
                    *(part for name, value in ASKED.items() for part in (f"--{name}", str(value)))], check=True)
    return nalm.read(folder)


def test_series_and_tables_are_the_programs(results, theirs, tmp_path):
    assert results.text(format="csv") == theirs.text(format="csv")
    results.write_series(tmp_path / "ours.csv")
    theirs.write_series(tmp_path / "theirs.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()
    pandas.testing.assert_frame_equal(results.series(), theirs.series())


def test_frames(results, tmp_path):
    table = results.table()
    assert len(table) == 2 and set(table["module"]) == {"NAU", "NMU"}
    series = results.series()
    results.write_series(tmp_path / "series.csv")
    wide = pandas.read_csv(tmp_path / "series.csv")
    one = series[series["measure"] == wide.columns[5]]
    assert np.array_equal(one["value"].to_numpy(), wide[wide.columns[5]].to_numpy().astype(np.float32).astype(float))
    assert np.array_equal(one["step"].to_numpy(), wide["step"].to_numpy())


def test_pages_and_comparisons(results, theirs, tmp_path):
    assert "<table>" in results._repr_html_() and "NAU" in results._repr_html_()
    same = results.compare(theirs)
    assert same and "NAU" in repr(results.compare(theirs, all=True))
    results.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10000


def test_wrong_questions(results, tmp_path):
    with pytest.raises(nalm.Error):
        nalm.read(tmp_path / "nothing")
    with pytest.raises(nalm.Error, match="there is no metric"):
        results.table("nope")
    with pytest.raises(nalm.Error):
        nalm.bench(out=results.folder, **ASKED)
    with pytest.raises(nalm.Error):
        nalm.bench("no-such-task", out=tmp_path / "x")
