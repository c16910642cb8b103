"""nalm.fit with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("nalm.Regressor needs scikit-learn 1.6 or newer: pip install scikit-learn. nalm.fit does without."
                      ) from error

from . import _nalm
from ._fit import Fit, _search, _warn_unless_law
from ._formula import Formula


class Regressor(RegressorMixin, BaseEstimator):
    """Finds a formula: sums, products, quotients and powers of columns with real constants.

    Parameters are those of nalm.fit. After fit: ``formula_``, ``verdict_`` ("law", "approximation" or "none"),
    ``candidates_`` (a DataFrame), ``fit_`` (a nalm.Fit with all there is to say) and ``report("x.html")``.
    """

    def __init__(self, *, stack: str | None = None, powers: str = "half",
                 functions: str | Sequence[str] = (), units: Mapping[str, str] | None = None,
                 use: Sequence[str] = (), time_limit: float = 0,
                 random_state: Any = 1, threads: int = 0, progress: bool | None = None) -> None:
        self.stack = stack
        self.powers = powers
        self.functions = functions
        self.units = units
        self.use = use
        self.time_limit = time_limit
        self.random_state = random_state
        self.threads = threads
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        name = getattr(y, "name", None)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True, ensure_min_samples=2)
        columns = self._columns()
        target = name if isinstance(name, str) and name and name not in columns else "y"
        while target in columns:
            target += "_"
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = check_random_state(seed).randint(2**31 - 1)
        names, parts, weights = [*columns, target], [X, np.asarray(y, dtype=np.float64)], ""
        if sample_weight is not None:
            weights = "sample_weight"
            while weights in names:
                weights += "_"
            names.append(weights)
            parts.append(_check_sample_weight(sample_weight, X, dtype=np.float64))
        found, why_not, raised = _search(
            np.ascontiguousarray(np.column_stack(parts)), names, target, self.progress, inputs=columns, use=self.use,
            stack=self.stack, powers=self.powers, functions=self.functions, units=self.units, weights=weights,
            sigma="", relative=False, robust=False, seed=int(seed), threads=self.threads, time_limit=self.time_limit)
        if found is not None:
            self.fit_: Fit = found
        if raised is not None:
            raise raised
        if found is None:
            raise _nalm.Error(f"{why_not}.")
        _warn_unless_law(found, 2)
        return self

    def predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return self.fit_.formula.evaluate(np.ascontiguousarray(X), self._columns())

    def _columns(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        return [f"x{k + 1}" for k in range(self.n_features_in_)]

    @property
    def formula_(self) -> Formula:
        check_is_fitted(self)
        return self.fit_.formula

    @property
    def verdict_(self) -> str:
        check_is_fitted(self)
        return self.fit_.verdict

    @property
    def candidates_(self) -> Any:
        check_is_fitted(self)
        return self.fit_.candidates

    def report(self, path: Any) -> None:
        """Writes an HTML page about the fit."""
        check_is_fitted(self)
        self.fit_.report(path)
