"""Neural arithmetic logic modules: small neural layers whose trained weights are a formula.

>>> import nalm
>>> fit = nalm.fit({"a": a, "b": b, "y": a * b}, "y")    # or a DataFrame
>>> fit.formula                                          # y = a*b

``nalm.Regressor`` is the same with scikit-learn's interface, ``nalm.torch`` has every module as a layer of PyTorch,
``nalm.bench`` runs the survey's benchmark and ``nalm.read`` opens its results.
"""

from __future__ import annotations

from typing import Any

from ._fit import Fit, NotTrusted, fit
from ._formula import Constant, Formula
from ._model import Model, Module, Trainer, modules
from ._nalm import Error
from ._nalm import simd_target as _simd_target
from ._nalm import version as _version
from ._results import Results, bench, read

__version__ = _version()
simd_target = _simd_target()

__all__ = [
    "Constant", "Error", "Fit", "Formula", "Model", "Module", "NotTrusted", "Regressor", "Results", "Trainer", "bench",
    "fit", "modules", "read", "simd_target",
]


def __getattr__(name: str) -> Any:
    # scikit-learn and PyTorch are imported by whoever uses them.
    if name == "Regressor":
        from ._regressor import Regressor

        return Regressor
    if name == "torch":
        import importlib

        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module 'nalm' has no attribute {name!r}")
