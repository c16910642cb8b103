"""Every module as a layer of PyTorch, computed forwards and backwards by the library.

>>> from nalm import torch as nt
>>> network = torch.nn.Sequential(nt.NAU(4, 2), nt.NMU(2, 1))

Names that Python does not allow are spelled: NAC+ is NACAdd, NAC* is NACMul, a hyphen is an underscore.
``layer("NAC+", 4, 2)`` takes the registry's own. Layers run on the CPU, in float32 or float64, and have no second
derivative.
"""

from __future__ import annotations

import re
from typing import Any, Sequence

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("nalm.torch needs PyTorch: pip install torch, or Debian's python3-torch.") from error

from . import _nalm
from ._formula import Formula
from ._model import Model, Module, modules


class _Apply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, layer: Layer, noise: torch.Tensor | None, x: torch.Tensor,
                *parameters: torch.Tensor) -> torch.Tensor:
        flat = _flat(parameters)
        y = torch.empty((x.shape[0], layer.outputs), dtype=x.dtype)
        # Some modules train in another form than they are evaluated in.
        layer._function.forward(flat.numpy(), x.numpy(), _view(noise), layer.training, y.numpy())
        ctx.layer, ctx.noise, ctx.evaluated = layer, noise, not layer.training
        ctx.save_for_backward(x, *parameters)
        return y

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple:
        layer = ctx.layer
        # PyTorch records what is done here if somebody wants to differentiate it again.
        if torch.is_grad_enabled():
            raise RuntimeError(f"{layer.module.name} has no second derivative; leave out create_graph=True.")
        if ctx.evaluated and layer.module.training_form:
            raise RuntimeError(f"{layer.module.name} trains in another form than it is evaluated in, and only that one "
                               "has a gradient; call train() on the layer first.")
        x, *parameters = ctx.saved_tensors
        flat = _flat(parameters)
        gradient = torch.empty_like(flat)
        dx = torch.empty_like(x) if ctx.needs_input_grad[2] else None
        layer._function.backward(flat.numpy(), x.numpy(), _view(ctx.noise), dy.contiguous().numpy(), _view(dx),
                                 gradient.numpy())
        parts, first = [], 0
        for p in parameters:
            parts.append(gradient[first : first + p.numel()].view(p.shape))
            first += p.numel()
        return (None, None, dx, *parts)


def _view(tensor: torch.Tensor | None) -> np.ndarray | None:
    return None if tensor is None else tensor.numpy()


def _flat(parameters: Sequence[torch.Tensor]) -> torch.Tensor:
    parts = [p.detach().reshape(-1) for p in parameters]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


class Layer(torch.nn.Module):
    """A module of the registry with inputs and outputs; options by name, as in NSR(4, 2, redundancy=2)."""

    module: Module

    def __init__(self, inputs: int, outputs: int, *, dtype: torch.dtype | None = None, **options: Any) -> None:
        super().__init__()
        dtype = dtype if dtype is not None else torch.get_default_dtype()
        if dtype not in (torch.float32, torch.float64):
            raise _nalm.Error(f"{self.module.name}: a layer is float32 or float64, not {dtype}.")
        self.inputs, self.outputs = inputs, outputs
        self._options = ",".join(f"{name}={value}" for name, value in options.items())
        self._function = _nalm.LayerFunction(self.module.name, inputs, outputs, self._options)
        for name, shape in self._function.parameters:
            self.register_parameter(name, torch.nn.Parameter(torch.empty(shape, dtype=dtype)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The module's own start values; PyTorch's generator chooses them."""
        self._set(self._function.start(int(torch.randint(2**62, ()))))

    def _set(self, values: np.ndarray) -> None:
        first = 0
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(torch.from_numpy(values[first : first + p.numel()].reshape(tuple(p.shape))))
                first += p.numel()

    def extra_repr(self) -> str:
        return f"{self.inputs}, {self.outputs}" + (f", {self._options}" if self._options else "")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        own = list(self.parameters())
        if not isinstance(x, torch.Tensor):
            raise _nalm.Error(f"{self.module.name}: the input is no tensor of PyTorch.")
        for tensor, what in ((x, "the input"), (own[0], "the layer")):
            if tensor.device.type != "cpu":
                raise _nalm.Error(f"{self.module.name}: {what} is on the device {tensor.device}, and layers run on the "
                                  "cpu; move it with .cpu().")
        if x.dtype != own[0].dtype:
            raise _nalm.Error(f"{self.module.name}: the input is {x.dtype} and the layer {own[0].dtype}; "
                              "convert one of them with .to().")
        if own[0].dtype not in (torch.float32, torch.float64):
            raise _nalm.Error(f"{self.module.name}: a layer is float32 or float64, not {own[0].dtype}.")
        if x.dim() == 0 or x.shape[-1] != self.inputs:
            raise _nalm.Error(f"{self.module.name}: the last dimension of the input must be {self.inputs}, and its shape "
                              f"is {tuple(x.shape)}.")
        rows = x.reshape(-1, self.inputs).contiguous()
        return _Apply.apply(self, self._noise(rows), rows, *own).reshape(*x.shape[:-1], self.outputs)

    def _noise(self, rows: torch.Tensor) -> torch.Tensor | None:
        """Random factors for a module that trains with some (sNMU), unless ``noise`` is set to False."""
        habit = self.module.recipe.get("noise")
        if not (self.module.takes_noise and self.training and getattr(self, "noise", True) and habit):
            return None
        low, high = habit["lo"], habit["hi"]
        if habit.get("batch_adaptive"):
            high = low + 1 / float(rows.detach().std(unbiased=False))
        return torch.empty_like(rows, requires_grad=False).uniform_(low, high)

    # ---- the module's habits ----

    def regularisation(self, iteration: int | None = None) -> torch.Tensor:
        """What the module's recipe adds to the loss at an iteration; at its full strength if none is given."""
        total = next(self.parameters()).new_zeros(())
        habits = self.module.recipe.get("regularisers", [])
        factors = _nalm.regulariser_coefficients(self.module.name, 10**9 if iteration is None else iteration)
        for habit, factor in zip(habits, factors):
            for name, w in self.named_parameters():
                if habit.get("parameter", "") in ("", name):
                    total = total + factor * _penalties[habit["kind"]](w)
        return total

    @torch.no_grad()
    def clamp_(self) -> Layer:
        """Keeps the parameters in the module's bounds: after every step of the optimiser."""
        for parameter in self.module.parameters:
            own = getattr(self, parameter["name"], None)
            if parameter["clamp"] is not None and own is not None:
                own.clamp_(*parameter["clamp"])
        return self

    def sparsity_error(self) -> float:
        return self.to_model().sparsity_error()

    def formula(self, names: Sequence[str] | None = None, literal: bool = False) -> Formula | list[Formula]:
        """What the weights spell."""
        return self.to_model().formula(names, literal)

    # ---- model files ----

    def to_model(self) -> Model:
        return to_model(self)

    def from_model(self, model: Model, layer: int = 0) -> Layer:
        """Takes the numbers of a layer of a model."""
        own = dict(self.named_parameters())
        theirs = model.parameters[layer] if 0 <= layer < len(model.parameters) else {}
        if {n: tuple(p.shape) for n, p in own.items()} != {n: a.shape for n, a in theirs.items()}:
            raise _nalm.Error(f"{self.module.name}: layer {layer} of {model!r} is another one than {self!r}.")
        with torch.no_grad():
            for name, p in own.items():
                p.copy_(torch.from_numpy(np.ascontiguousarray(theirs[name])))
        return self


# At factor 1, of one parameter; nalm/recipe.hpp has the formulas.
_penalties = {
    "sparsity": lambda w: torch.minimum(w.abs(), (1 - w.abs()).abs()).mean(),
    "saturate": lambda w: (20 - w.abs()).clamp(min=0).mean(),
    "l1": lambda w: w.abs().sum(),
    "unit": lambda w: (1 - w.abs()).abs().mean(),
    "grow": lambda w: -(w * w).mean(),
}


def to_model(*layers: Layer | torch.nn.Sequential) -> Model:
    """A model of layers that follow each other, for nalm.Model.save."""
    flat = [part for layer in layers for part in (layer if isinstance(layer, torch.nn.Sequential) else [layer])]
    for part in flat:
        if not isinstance(part, Layer):
            raise _nalm.Error(f"{type(part).__name__} is no layer of nalm, so that a model file cannot have it.")
    spelled = ",".join(f"{p.module.name}:{p.outputs}" + (f"({p._options})" if p._options else "") for p in flat)
    model = Model(spelled, flat[0].inputs)
    for k, part in enumerate(flat):
        model.set_parameters(k, **{name: p.detach().double().numpy() for name, p in part.named_parameters()})
    return model


def _python_name(name: str) -> str:
    return re.sub(r"\W", "_", name.replace("+", "Add").replace("*", "Mul"))


_classes = {name: type(_python_name(name), (Layer,), {"module": module, "__doc__": f"{module.title}. {module.formula}",
                                                      "__module__": __name__})
            for name, module in modules.items()}
globals().update({cls.__name__: cls for cls in _classes.values()})
__all__ = ["Layer", "layer", "to_model", *(cls.__name__ for cls in _classes.values())]


def layer(name: str, inputs: int, outputs: int, **options: Any) -> Layer:
    """A layer by the registry's name of its module."""
    return _classes[_nalm.find_module(name)](inputs, outputs, **options)
