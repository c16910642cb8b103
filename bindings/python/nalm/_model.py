"""Modules, networks of them, and their training."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _arrays, _nalm
from ._formula import Formula


@dataclass(frozen=True)
class Module:
    """What a module says about itself."""

    name: str
    other_name: str
    title: str
    citation: str
    formula: str
    learned: str
    unusual_inputs: str
    training_form: str
    takes_noise: bool
    truth_values: bool
    positive_inputs: bool
    outputs_multiple_of: int
    differences: list[str]
    operations: list[str]
    parameters: list[dict[str, Any]]
    options: list[dict[str, Any]]
    recipe: dict[str, Any]

    def __repr__(self) -> str:
        return f"{self.name}: {self.title}. {self.formula}"


#: Every module of the registry, by name.
modules: Mapping[str, Module] = MappingProxyType(
    {m["name"]: Module(**{**m, "recipe": json.loads(m["recipe"])}) for m in _nalm.modules()})


def _is_double(precision: str) -> bool:
    if precision not in ("float", "double"):
        raise _nalm.Error(f"the precision is \"float\" or \"double\", not {precision!r}.")
    return precision == "double"


def _targets(values: Any, outputs: int) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim == 1 and outputs == 1:
        array = array[:, np.newaxis]
    return _arrays.numbers(array, "the targets", 2)


class Model:
    """A network with its numbers.

    ``Model("NAU:2,NMU:1", inputs=3)`` has start values; ``Model.load`` reads a model file.
    """

    def __init__(self, stack: str, inputs: int, seed: int = 0) -> None:
        self._model = _nalm.Model.make(stack, inputs, seed)

    @classmethod
    def _of(cls, model: _nalm.Model) -> Model:
        self = cls.__new__(cls)
        self._model = model
        return self

    @classmethod
    def load(cls, path: str | os.PathLike) -> Model:
        return cls._of(_nalm.Model.load(os.fspath(path)))

    @classmethod
    def from_json(cls, text: str) -> Model:
        return cls._of(_nalm.Model.parse(text, "the model"))

    def save(self, path: str | os.PathLike) -> None:
        self._model.save(os.fspath(path))

    def to_json(self) -> str:
        return self._model.to_json()

    def __reduce__(self) -> tuple:
        return Model.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"Model({self.stack!r}, inputs={self.inputs})"

    @property
    def stack(self) -> str:
        return self._model.stack

    @property
    def inputs(self) -> int:
        return self._model.inputs

    @property
    def outputs(self) -> int:
        return self._model.outputs

    @property
    def columns(self) -> list[str]:
        return self._model.columns

    @columns.setter
    def columns(self, names: Sequence[str]) -> None:
        self._model.columns = list(names)

    @property
    def parameters(self) -> list[dict[str, np.ndarray]]:
        """A copy of the parameters, layer by layer, by name."""
        return self._model.parameters()

    def set_parameters(self, layer: int, **values: Any) -> None:
        """Other values for some parameters of a layer."""
        layers = self.parameters
        if not 0 <= layer < len(layers):
            raise _nalm.Error(f"there is no layer {layer}; the model has {len(layers)}.")
        own = layers[layer]
        for name, value in values.items():
            if name not in own:
                raise _nalm.Error(f"the layer has no parameter \"{name}\"; it has {', '.join(own)}.")
            array = np.asarray(value, dtype=np.float64)
            if array.shape != own[name].shape:
                raise _nalm.Error(f"the parameter \"{name}\" has the shape {own[name].shape}, not {array.shape}.")
            own[name] = array
        self._model.set_parameters(layer, np.concatenate([a.ravel() for a in own.values()]))

    def predict(self, rows: Any, precision: str = "double") -> np.ndarray:
        """Rows x outputs, for an array or a table that has the model's columns."""
        return self._model.predict(_arrays.rows(rows, self.columns), _is_double(precision))

    def gradients(self, rows: Any, targets: Any, precision: str = "double",
                  ) -> tuple[float, list[dict[str, np.ndarray]], np.ndarray]:
        """The mean squared error, and its gradient: by parameters, layer by layer, and by inputs."""
        return self._model.gradients(_arrays.rows(rows, self.columns), _targets(targets, self.outputs),
                                     _is_double(precision))

    def explain(self, row: Any) -> list[dict[str, Any]]:
        """The computation for one row, step by step."""
        return self._model.explain(list(_arrays.numbers(row, "the row", 1)))

    def formula(self, columns: Sequence[str] | None = None, literal: bool = False) -> Formula | list[Formula]:
        """What the weights spell, or literally compute; a list where there are several outputs."""
        if self._model.formula_size() > 1e5:
            raise _nalm.Error("the formula could have more than 100,000 terms.")
        names = list(columns) if columns is not None else self.columns
        outputs, _, _ = self._model.formula(names, literal)
        target = self._model.target
        made = [Formula(str(e), target or f"y{k + 1}" if len(outputs) > 1 or target else "y", names)
                for k, e in enumerate(outputs)]
        return made[0] if len(made) == 1 else made

    def notes(self) -> list[str]:
        """What there is to say about the formula, such as weights that are not discrete."""
        return self._model.formula(self.columns, False)[1]

    def sparsity_error(self) -> float:
        return self._model.sparsity_error()


class Trainer:
    """Many trainings of one network at once, each with a seed of its own.

    The recipe is the modules' own; ``recipe={"optimiser": {"learning_rate": 0.01}, "batch": 64}`` changes it.
    """

    def __init__(self, stack: str, inputs: int, *, seeds: Sequence[int] = (0,), recipe: Mapping[str, Any] | None = None,
                 precision: str = "float", threads: int = 0) -> None:
        self._inputs = inputs
        self._trainer = _nalm.Trainer.make(stack, inputs, json.dumps(recipe) if recipe else "", len(seeds),
                                           _is_double(precision), threads)
        for run, seed in enumerate(seeds):
            self._trainer.start(run, seed)

    @classmethod
    def _of(cls, trainer: _nalm.Trainer) -> Trainer:
        self = cls.__new__(cls)
        self._trainer = trainer
        self._inputs = trainer.model(0).inputs
        return self

    @classmethod
    def load(cls, path: str | os.PathLike, threads: int = 0) -> Trainer:
        """From a checkpoint: it goes on bit for bit."""
        return cls._of(_nalm.Trainer.load(os.fspath(path), threads))

    @classmethod
    def from_json(cls, text: str, threads: int = 0) -> Trainer:
        return cls._of(_nalm.Trainer.parse(text, threads))

    def save(self, path: str | os.PathLike) -> None:
        """Writes a checkpoint."""
        self._trainer.save(os.fspath(path))

    def __reduce__(self) -> tuple:
        return Trainer.from_json, (self._trainer.checkpoint(),)

    @property
    def runs(self) -> int:
        return self._trainer.runs

    @property
    def iteration(self) -> int:
        return self._trainer.iteration

    @property
    def models(self) -> list[Model]:
        return [self.model(run) for run in range(self.runs)]

    def model(self, run: int = 0) -> Model:
        return Model._of(self._trainer.model(run))

    def start_from(self, run: int, model: Model, seed: int = 0) -> None:
        self._trainer.start_from(run, model._model, seed)

    def set_validation_error(self, run: int, error: float) -> None:
        self._trainer.set_validation_error(run, error)

    def predict(self, rows: Any, run: int = 0) -> np.ndarray:
        return self._trainer.predict(run, _arrays.numbers(rows, "the rows", 2))

    def train(self, rows: Any, targets: Any = None, *, iterations: int | None = None, seed: int = 0,
              progress: Callable[[int], None] | None = None, every: int = 1000) -> Trainer:
        """Trains every run, for as long as its recipe says unless iterations is given.

        Either rows and targets are arrays, and batches are drawn from them; or rows is a function of run and iteration
        that gives the two arrays of a batch, and depends on nothing else.
        """
        count = -1 if iterations is None else int(iterations)
        if callable(rows):
            source = rows

            def batch(run: int, iteration: int) -> tuple[np.ndarray, np.ndarray]:
                x, t = source(run, iteration)
                t = np.asarray(t)
                return (_arrays.numbers(x, "the batch's inputs", 2),
                        _arrays.numbers(t[:, np.newaxis] if t.ndim == 1 else t, "the batch's targets", 2))

            raised = self._trainer.train_on_batches(count, batch, progress, every)
        else:
            x = _arrays.numbers(rows, "the inputs", 2)
            t = np.asarray(targets)
            t = _arrays.numbers(t[:, np.newaxis] if t.ndim == 1 else t, "the targets", 2)
            if x.shape[1] != self._inputs:
                raise _nalm.Error(f"the inputs have {x.shape[1]} columns, and the network has {self._inputs} inputs.")
            if not (np.isfinite(x).all() and np.isfinite(t).all()):
                raise _nalm.Error("the inputs or targets have values that are not finite numbers.")
            raised = self._trainer.train_on_rows(count, x, t, seed, progress, every)
        if raised is not None:
            raise raised
        return self
