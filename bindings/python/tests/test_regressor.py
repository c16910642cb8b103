"""scikit-learn's contract, to the letter."""

import pickle
import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
pandas = pytest.importorskip("pandas")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import nalm


@pytest.fixture
def frame(product):
    return pandas.DataFrame(product)


def test_check_estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(nalm.Regressor(), on_skip=None, on_fail=None)
    wrong = [(c["check_name"], c["status"], str(c["exception"])[:300]) for c in checks if c["status"] != "passed"]
    assert not wrong, wrong
    assert len(checks) >= 40


def test_a_weight_is_a_number_of_rows(frame):
    random = np.random.default_rng(4)
    y = frame["y"] + 0.05 * random.normal(size=len(frame))
    weights = random.integers(1, 4, size=len(frame))
    weighted = nalm.Regressor().fit(frame[["a", "b"]], y, sample_weight=weights)
    repeated = nalm.Regressor().fit(frame[["a", "b"]].loc[np.repeat(frame.index, weights)], np.repeat(y, weights))
    assert np.allclose(weighted.predict(frame[["a", "b"]]), repeated.predict(frame[["a", "b"]]), rtol=1e-6)


def test_column_names_are_names_in_the_formula(frame):
    model = nalm.Regressor().fit(frame[["a", "b"]], frame["y"])
    assert repr(model.formula_) == "y = a*b"
    assert model.verdict_ == "law"
    assert "a*b" in list(model.candidates_["formula"])
    assert np.array_equal(model.predict(frame[["a", "b"]]), frame["a"] * frame["b"])
    assert model.score(frame[["a", "b"]], frame["y"]) == 1.0


def test_arrays(product):
    model = nalm.Regressor().fit(np.column_stack([product["a"], product["b"]]), product["y"])
    assert repr(model.formula_) == "y = x1*x2"


def test_clones_and_pickles(frame):
    model = nalm.Regressor(powers="integer", random_state=7)
    assert clone(model).get_params() == model.get_params()
    model.fit(frame[["a", "b"]], frame["y"])
    again = pickle.loads(pickle.dumps(model))
    assert again.formula_ == model.formula_
    assert np.array_equal(again.predict(frame[["a", "b"]]), model.predict(frame[["a", "b"]]))


def test_pipeline_and_grid_search(frame):
    pipeline = make_pipeline(FunctionTransformer(lambda x: 2 * x), nalm.Regressor())
    pipeline.fit(frame[["a", "b"]].to_numpy(), frame["y"])
    assert np.allclose(pipeline.predict(frame[["a", "b"]].to_numpy()), frame["y"])
    search = GridSearchCV(nalm.Regressor(), {"powers": ["integer", "half"]}, cv=2)
    search.fit(frame[["a", "b"]], frame["y"])
    assert search.best_score_ > 0.99


def test_not_a_law_warns_and_reports(tmp_path):
    random = np.random.default_rng(1)
    with pytest.warns(nalm.NotTrusted):
        model = nalm.Regressor().fit(random.normal(size=(40, 2)), random.normal(size=40))
    assert model.verdict_ != "law"
    model.report(tmp_path / "x.html")
    assert (tmp_path / "x.html").stat().st_size > 10000
