#!/usr/bin/python3
"""Times the single-module task in PyTorch, on one thread, in three forms.

"loop" trains one run after the other, as the reference software of the paper does. The batched forms train the 225 runs
(9 ranges, 25 seeds) of a module and an operation as one set of tensors with a leading run dimension. In "batched, own
batches" every run draws its own batch, as in the reference software. "batched, shared batches" makes use of the fact
that runs of the same seed draw the same numbers: it draws once per seed, for all nine ranges. All forms see the same
numbers, so that they can be checked against the logs of the reference software: --check.

The result is JSON on stdout, progress is on stderr. Needs Debian's python3-torch: run it with /usr/bin/python3.
"""

import argparse
import json
import math
import platform
import sys
import time

import numpy
import torch
from torch.nn import functional

BATCH = 128
EVALUATION_ROWS = 10_000
LOG_EVERY = 1000
ITERATIONS = 50_001  # 0 to 50,000 inclusive
SEEDS = range(25)
VALIDATION_SEED = 43953907
TEST_SEED = 8689336

RANGES = [
    # interpolation, parts of the extrapolation range
    ((-20.0, -10.0), [(-40.0, -20.0)]),
    ((-2.0, -1.0), [(-6.0, -2.0)]),
    ((-1.2, -1.1), [(-6.1, -1.2)]),
    ((-0.2, -0.1), [(-2.0, -0.2)]),
    ((-2.0, 2.0), [(-6.0, -2.0), (2.0, 6.0)]),
    ((0.1, 0.2), [(0.2, 2.0)]),
    ((1.0, 2.0), [(2.0, 6.0)]),
    ((1.1, 1.2), [(1.2, 6.0)]),
    ((10.0, 20.0), [(20.0, 40.0)]),
]
RUNS = len(RANGES) * len(SEEDS)

OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


# The two forms. Modules are written once: everything that depends on where the two inputs of a sample sit is here.


class Loop:
    """Inputs are [sample][input], a weight tensor is [input], outputs are [sample]."""

    @staticmethod
    def dot(weights, inputs):
        return inputs @ weights

    @staticmethod
    def product(factors):
        first, second = factors.unbind(-1)
        return first * second

    @staticmethod
    def loss(outputs, targets):
        return functional.mse_loss(outputs, targets)

    @staticmethod
    def stack(values_of_runs):
        return values_of_runs[0].clone()

    @staticmethod
    def join(parameters):
        """All parameters as [run][element]."""
        return torch.cat(parameters).unsqueeze(0)


class Batched:
    """Inputs are [run][input][sample], a weight tensor is [run][input][1], outputs are [run][sample].

    With the samples last, sums over the two inputs and over the samples both go over contiguous memory. matmul, einsum
    and the layout [run][sample][input] were slower.
    """

    @staticmethod
    def dot(weights, inputs):
        return (weights * inputs).sum(-2)

    @staticmethod
    def product(factors):
        first, second = factors.unbind(-2)
        return first * second

    @staticmethod
    def loss(outputs, targets):
        # The mean over the samples, and the sum over the runs: every run gets the gradient of its own mean.
        return functional.mse_loss(outputs, targets, reduction="sum") / BATCH

    @staticmethod
    def stack(values_of_runs):
        stacked = torch.stack(values_of_runs)
        return stacked.unsqueeze(-1) if stacked.shape[-1] == 2 else stacked

    @staticmethod
    def join(parameters):
        return torch.cat([parameter.flatten(1) for parameter in parameters], 1)


# Modules


def uniform(generator, low, high):
    return torch.empty(2).uniform_(low, high, generator=generator)


def normal(generator, mean, elements=2):
    return torch.empty(elements).normal_(mean, 0.2, generator=generator)


def nac_bound():
    """Half width of the uniform initialisation of NAC: the root of 5 V(r) = 2."""
    low, high = 1e-6, 10.0
    for _ in range(100):
        r = (low + high) / 2
        variance = (1 - math.tanh(r) / r) * (r - math.tanh(r / 2)) / (2 * r)
        low, high = (r, high) if 5 * variance < 2 else (low, r)
    return low


NAC_BOUND = nac_bound()
XAVIER_BOUND = math.sqrt(2.0)
LOG_GOLDEN_RATIO = math.log((1 + math.sqrt(5)) / 2)


def nac_weights(w_hat, m_hat):
    return torch.tanh(w_hat) * torch.sigmoid(m_hat)


def distance_to_zero_or_one(weights):
    magnitude = weights.abs()
    return torch.minimum(magnitude, (1 - magnitude).abs())


class Module:
    learning_rate = 1e-3
    clip_gradient = None
    reinitialises = False
    # Iterations that stand for the others, with the number of iterations for which each of them stands.
    phases = [(0, ITERATIONS)]

    def __init__(self, form, operation):
        self.form = form
        self.operation = operation

    def start_values(self, generator):
        raise NotImplementedError

    def predict(self, parameters, inputs):
        raise NotImplementedError

    def sparse_weights(self, parameters):
        """The tensors whose mean sparsity error is logged."""
        raise NotImplementedError

    def regulariser(self, parameters, iteration, validation_errors):
        """The sum over all runs, or None."""
        return None

    def after_step(self, parameters):
        pass


class NACPlus(Module):
    def start_values(self, generator):
        return [uniform(generator, -NAC_BOUND, NAC_BOUND) for _ in range(2)]

    def predict(self, parameters, inputs):
        return self.form.dot(nac_weights(*parameters), inputs)

    def sparse_weights(self, parameters):
        return [nac_weights(*parameters)]


class NACStar(NACPlus):
    def predict(self, parameters, inputs):
        return self.form.dot(nac_weights(*parameters), (inputs.abs() + 1e-7).log()).exp()


class NALU(Module):
    def start_values(self, generator):
        bounds = (NAC_BOUND, NAC_BOUND, XAVIER_BOUND)
        return [uniform(generator, -bound, bound) for bound in bounds]

    def weights(self, parameters):
        return nac_weights(*parameters[:2])

    def gate(self, weights, inputs):
        return torch.sigmoid(self.form.dot(weights, inputs))

    def predict(self, parameters, inputs):
        weights = self.weights(parameters)
        added = self.form.dot(weights, inputs)
        multiplied = self.form.dot(weights, (inputs.abs() + 1e-7).log()).exp()
        return torch.lerp(multiplied, added, self.gate(parameters[2], inputs))

    def sparse_weights(self, parameters):
        return [self.weights(parameters)]


class GNALU(NALU):
    """In closed form: tanh and sigmoid of base phi are those of base e with a scaled argument."""

    def weights(self, parameters):
        w_hat, m_hat = parameters[:2]
        return nac_weights(w_hat * LOG_GOLDEN_RATIO, m_hat * LOG_GOLDEN_RATIO)

    def gate(self, weights, inputs):
        return torch.sigmoid(self.form.dot(weights * LOG_GOLDEN_RATIO, inputs))


class INALU(Module):
    clip_gradient = 0.1
    reinitialises = True
    phases = [(6_000, 10_001), (30_000, 40_000)]
    # The regulariser is 0.05 times the sum of the means of the five tensors.
    shares_of_elements = 0.05 * torch.tensor([0.5] * 8 + [1.0])

    def start_values(self, generator):
        means = ((0.88, 2), (0.5, 2), (0.88, 2), (0.5, 2), (0.0, 1))
        return [normal(generator, mean, elements) for mean, elements in means]

    def predict(self, parameters, inputs):
        w_hat_add, m_hat_add, w_hat_mul, m_hat_mul, gate = parameters
        added = self.form.dot(nac_weights(w_hat_add, m_hat_add), inputs)
        weights = nac_weights(w_hat_mul, m_hat_mul)
        logarithms = inputs.abs().clamp(min=1e-7).log()
        magnitude = self.form.dot(weights, logarithms).clamp(max=20).exp()
        # sign(x) |W| + 1 - |W|
        sign = self.form.product(weights.abs() * (inputs.sign() - 1) + 1)
        share = torch.sigmoid(gate)
        return torch.lerp(magnitude * sign, added, share)

    def sparse_weights(self, parameters):
        return [nac_weights(*parameters[0:2]), nac_weights(*parameters[2:4])]

    def regulariser(self, parameters, iteration, validation_errors):
        if iteration <= 10_000:
            return None
        active = validation_errors < 1
        if not active.any():
            return None
        to_twenty = (20 - self.form.join(parameters).abs()).clamp(min=0)
        return (to_twenty * (self.shares_of_elements * active.unsqueeze(-1))).sum()


class NAU(Module):
    strength = 0.01
    bounds = (-1.0, 1.0)
    phases = [(0, 20_001), (30_000, 30_000)]

    def start_values(self, generator):
        return [uniform(generator, -0.5, 0.5)]

    def predict(self, parameters, inputs):
        # The stored weights are always within the bounds: clamping them once more here would change nothing.
        return self.form.dot(parameters[0], inputs)

    def sparse_weights(self, parameters):
        return parameters

    def regulariser(self, parameters, iteration, validation_errors):
        scale = min(max((iteration - 20_000) / 15_000, 0.0), 1.0)
        if scale == 0:
            return None
        return self.strength * scale / 2 * distance_to_zero_or_one(parameters[0]).sum()

    @torch.no_grad()
    def after_step(self, parameters):
        parameters[0].clamp_(*self.bounds)


class NMU(NAU):
    strength = 10.0
    bounds = (0.0, 1.0)

    def start_values(self, generator):
        return [uniform(generator, 0.25, 0.75)]

    def predict(self, parameters, inputs):
        weights = parameters[0]
        return self.form.product(weights * inputs + 1 - weights)


class RealNPU(Module):
    learning_rate = 5e-3
    epsilon = float(numpy.finfo(numpy.float32).eps)

    def start_values(self, generator):
        return [uniform(generator, -XAVIER_BOUND, XAVIER_BOUND), torch.full((2,), 0.5)]

    def gated(self, gate, inputs):
        gate = gate.clamp(0, 1)
        logarithms = (gate * (inputs.abs() + self.epsilon) + (1 - gate)).log()
        return gate, logarithms, (inputs < 0) * math.pi

    def predict(self, parameters, inputs):
        weights, gate = parameters
        gate, logarithms, half_turns = self.gated(gate, inputs)
        return self.form.dot(weights, logarithms).exp() * self.form.dot(weights * gate, half_turns).cos()

    def sparse_weights(self, parameters):
        return parameters[:1]

    def regulariser(self, parameters, iteration, validation_errors):
        beta = {"mul": 1e-7, "div": 1e-9}[self.operation] * 10 ** min(iteration // 10_000, 2)
        return beta * sum(parameter.abs().sum() for parameter in parameters)


class NPU(RealNPU):
    def start_values(self, generator):
        weights, gate = super().start_values(generator)
        return [weights, torch.zeros(2), gate]

    def predict(self, parameters, inputs):
        real, imaginary, gate = parameters
        gate, logarithms, half_turns = self.gated(gate, inputs)
        dot = self.form.dot
        magnitude = dot(real, logarithms) - dot(imaginary * gate, half_turns)
        angle = dot(real * gate, half_turns) + dot(imaginary, logarithms)
        return magnitude.exp() * angle.cos()

    def sparse_weights(self, parameters):
        return parameters[:2]


MODULES = {
    "NAC+": NACPlus,
    "NAC*": NACStar,
    "NALU": NALU,
    "G-NALU": GNALU,
    "iNALU": INALU,
    "NAU": NAU,
    "NMU": NMU,
    "NPU": NPU,
    "RealNPU": RealNPU,
}

PAIRS = [
    (module, operation)
    for operation, modules in {
        "add": ("NAC+", "G-NALU", "iNALU", "NALU", "NAU"),
        "sub": ("NAC+", "G-NALU", "iNALU", "NALU", "NAU"),
        "mul": ("NAC*", "G-NALU", "iNALU", "NALU", "NMU", "NPU", "RealNPU"),
        "div": ("NAC*", "G-NALU", "iNALU", "NALU", "NPU", "RealNPU"),
    }.items()
    for module in modules
]


# Data


def train_stream(seed):
    return numpy.random.RandomState(numpy.random.RandomState(seed).randint(0, 2**32 - 1))


def evaluation_set(seed, parts, operation):
    stream = numpy.random.RandomState(seed)
    drawn = [stream.uniform(low, high, size=(EVALUATION_ROWS, 2)) for low, high in parts]
    inputs = drawn[0]
    if len(parts) == 2:
        inputs = numpy.where(stream.randint(0, 2, size=(EVALUATION_ROWS, 2)) == 1, drawn[0], drawn[1])
    targets = OPERATIONS[operation](inputs[:, 0], inputs[:, 1])
    return torch.from_numpy(inputs.astype(numpy.float32)), torch.from_numpy(targets.astype(numpy.float32))


def evaluation_sets(range_index, operation):
    interpolation, extrapolation = RANGES[range_index]
    return [
        evaluation_set(VALIDATION_SEED, [interpolation], operation),
        evaluation_set(TEST_SEED, extrapolation, operation),
    ]


class LoopData:
    def __init__(self, range_index, seed, operation):
        self.low, self.high = RANGES[range_index][0]
        self.stream = train_stream(seed)
        self.operation = OPERATIONS[operation]

    def next_batch(self):
        inputs = self.stream.uniform(self.low, self.high, size=(BATCH, 2))
        targets = self.operation(inputs[:, 0], inputs[:, 1])
        return torch.from_numpy(inputs.astype(numpy.float32)), torch.from_numpy(targets.astype(numpy.float32))


class OwnBatches:
    """Every run draws from its own stream. Targets and conversion to float32 are done for all runs at once."""

    def __init__(self, operation):
        self.sources = [(train_stream(seed), *interpolation) for interpolation, _ in RANGES for seed in SEEDS]
        self.operation = OPERATIONS[operation]
        self.drawn = numpy.empty((RUNS, BATCH, 2))
        self.exact = torch.from_numpy(self.drawn).transpose(1, 2)
        self.inputs = torch.empty(RUNS, 2, BATCH)

    def next_batch(self):
        for run, (stream, low, high) in enumerate(self.sources):
            self.drawn[run] = stream.uniform(low, high, size=(BATCH, 2))
        targets = self.operation(self.exact[:, 0], self.exact[:, 1])
        self.inputs.copy_(self.exact)
        return self.inputs, targets.float()


class SharedBatches:
    """A chunk of iterations is drawn at once per seed, and serves all ranges."""

    CHUNK = 10  # Divides the length of a measured window.

    def __init__(self, operation):
        self.streams = [train_stream(seed) for seed in SEEDS]
        self.operation = OPERATIONS[operation]
        bounds = torch.tensor([interpolation for interpolation, _ in RANGES], dtype=torch.float64)
        self.low = bounds[:, 0].reshape(-1, 1, 1, 1)
        self.width = (bounds[:, 1] - bounds[:, 0]).reshape(-1, 1, 1, 1)
        self.drawn = numpy.empty((self.CHUNK, len(SEEDS), 2, BATCH))
        self.drawn_tensor = torch.from_numpy(self.drawn)
        self.exact = torch.empty(len(RANGES), len(SEEDS), 2, BATCH, dtype=torch.float64)
        self.inputs = torch.empty(RUNS, 2, BATCH)
        self.position = self.CHUNK

    def next_batch(self):
        if self.position == self.CHUNK:
            for index, stream in enumerate(self.streams):
                self.drawn[:, index] = stream.random_sample((self.CHUNK, BATCH, 2)).transpose(0, 2, 1)
            self.position = 0
        torch.mul(self.drawn_tensor[self.position], self.width, out=self.exact).add_(self.low)
        self.position += 1
        targets = self.operation(self.exact[:, :, 0], self.exact[:, :, 1])
        self.inputs.copy_(self.exact.reshape(RUNS, 2, BATCH))
        return self.inputs, targets.float().reshape(RUNS, BATCH)


# Training


class ValidationHistory:
    """What decides about the re-initialisation of iNALU: the last logged validation error, once per iteration.

    Holds each logged value once, with the position at which it began to be appended.
    """

    def __init__(self, runs):
        self.runs = runs
        self.entries = numpy.zeros(runs, dtype=numpy.int64)
        self.begins = numpy.zeros((0, runs), dtype=numpy.int64)
        self.values = numpy.zeros((0, runs))

    def log(self, values):
        self.begins = numpy.vstack((self.begins, self.entries))
        self.values = numpy.vstack((self.values, values))

    def stagnating(self):
        """The runs whose second half is above 1 and not clearly better than the first one."""
        if (self.entries <= 5000).all():
            return ()
        half = self.entries // 2
        ends = numpy.vstack((self.begins[1:], self.entries))
        first = numpy.clip(half, self.begins, ends) - self.begins
        second = ends - self.begins - first
        count = self.entries - half
        mean = (second * self.values).sum(0) / count
        fire = (mean > 1.0) & (self.entries > 5000)
        if not fire.any():
            return ()
        deviation = numpy.sqrt((second * (self.values - mean) ** 2).sum(0) / count)
        fire &= (first * self.values).sum(0) / half <= mean + deviation
        return numpy.flatnonzero(fire)

    def clear(self, run):
        # Old values keep a length of zero, the last one starts again.
        self.entries[run] = 0
        self.begins[:, run] = 0


class Training:
    """One run, or the runs of a pair, from a common clock. A subclass has the form."""

    form = None

    def __init__(self, module, operation, seeds_of_runs, data):
        self.module = MODULES[module](self.form, operation)
        self.data = data
        self.runs = len(seeds_of_runs)
        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds_of_runs]
        self.drawn_values()  # The reference software initialises twice.
        self.parameters = [
            self.form.stack(values).requires_grad_() for values in zip(*self.drawn_values(), strict=True)
        ]
        self.optimizer = torch.optim.Adam(self.parameters, lr=self.module.learning_rate)
        self.iteration = 0
        self.history = ValidationHistory(self.runs)
        self.validation_errors = torch.full((self.runs,), math.inf)
        self.rows = []

    def drawn_values(self):
        return [self.module.start_values(generator) for generator in self.generators]

    def errors(self):
        """Validation and test errors of all runs."""
        raise NotImplementedError

    @torch.no_grad()
    def evaluate(self):
        validation, test = self.errors()
        sparsity = sum(
            distance_to_zero_or_one(weights).reshape(self.runs, -1).amax(-1)
            for weights in self.module.sparse_weights(self.parameters)
        ) / len(self.module.sparse_weights(self.parameters))
        self.validation_errors = validation
        self.rows.append((validation, test, sparsity))
        if self.module.reinitialises:
            self.history.log(validation.numpy())

    def update(self):
        module, parameters = self.module, self.parameters
        inputs, targets = self.data.next_batch()
        loss = self.form.loss(module.predict(parameters, inputs), targets)
        regulariser = module.regulariser(parameters, self.iteration, self.validation_errors)
        if regulariser is not None:
            loss = loss + regulariser
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if module.clip_gradient is not None:
            torch.nn.utils.clip_grad_value_(parameters, module.clip_gradient)
        self.optimizer.step()
        module.after_step(parameters)
        if module.reinitialises:
            self.reinitialise()
        self.iteration += 1

    @torch.no_grad()
    def reinitialise(self):
        self.history.entries += 1
        if self.iteration % 10 != 0 or self.iteration == 0:
            return
        for run in self.history.stagnating():
            for parameter, value in zip(self.parameters, self.module.start_values(self.generators[run])):
                rows = parameter if self.form is Batched else parameter.unsqueeze(0)
                rows[run] = value.reshape(rows[run].shape)
            self.history.clear(run)

    def train(self, iterations):
        for _ in range(iterations):
            if self.iteration % LOG_EVERY == 0:
                self.evaluate()
            self.update()

    def pretend(self, iteration):
        """Goes on as if this iteration had been reached: for the time that an iteration takes in a later phase.

        Every run is taken to have a validation error below 1, so that iNALU computes its regulariser.
        """
        self.validation_errors = torch.zeros(self.runs)
        self.history = ValidationHistory(self.runs)
        for _ in range(0, iteration, LOG_EVERY):
            self.history.log(self.validation_errors.numpy())
            self.history.entries += LOG_EVERY
        self.iteration = iteration


class LoopTraining(Training):
    form = Loop

    def __init__(self, module, operation, range_index, seed):
        super().__init__(module, operation, [seed], LoopData(range_index, seed, operation))
        self.sets = evaluation_sets(range_index, operation)

    def errors(self):
        return [
            functional.mse_loss(self.module.predict(self.parameters, inputs), targets).reshape(1)
            for inputs, targets in self.sets
        ]


class BatchedTraining(Training):
    form = Batched

    def __init__(self, module, operation, data):
        seeds = [seed for _ in RANGES for seed in SEEDS]
        super().__init__(module, operation, seeds, data)
        self.sets = [
            [(inputs.t().contiguous(), targets) for inputs, targets in evaluation_sets(index, operation)]
            for index in range(len(RANGES))
        ]

    def errors(self):
        # One range after the other: its 25 seeds share the data, and the intermediate tensors stay small.
        errors = ([], [])
        for index, sets in enumerate(self.sets):
            runs = slice(index * len(SEEDS), (index + 1) * len(SEEDS))
            parameters = [parameter[runs] for parameter in self.parameters]
            for (inputs, targets), into in zip(sets, errors, strict=True):
                into.append((self.module.predict(parameters, inputs) - targets).square().mean(-1))
        return [torch.cat(of_ranges) for of_ranges in errors]


# Measurement

FORMS = {"loop": "loop", "own": "batched, own batches", "shared": "batched, shared batches"}

# Iterations between two looks at the clock, such that all have the same share of drawn chunks and of iNALU's checks.
STRIDE = 10


def mean_time(work, calls, seconds):
    """Processor seconds per call: the mean over about so many seconds, at least so many calls, after a warm-up."""
    for _ in range(calls):
        work()
    done, elapsed = 0, 0.0
    start = time.process_time()
    while done == 0 or elapsed < seconds:
        for _ in range(calls):
            work()
        done += calls
        elapsed = time.process_time() - start
    return elapsed / done


class PairTiming:
    """The trainings of a pair, one per form."""

    def __init__(self, module, operation):
        self.trainings = {
            "loop": LoopTraining(module, operation, range_index=6, seed=0),
            "own": BatchedTraining(module, operation, OwnBatches(operation)),
            "shared": BatchedTraining(module, operation, SharedBatches(operation)),
        }

    def window(self, seconds):
        """Microseconds per iteration and run of a complete training with its 51 evaluations, for each form.

        One window of so many seconds per form. An update of each phase is weighted with the length of the phase.
        """
        return {name: self.iteration_time(training, seconds) / training.runs * 1e6
                for name, training in self.trainings.items()}

    @staticmethod
    def iteration_time(training, seconds):
        evaluation = mean_time(training.evaluate, 1, 0.2 * seconds)
        training.rows.clear()
        total = evaluation * ((ITERATIONS - 1) // LOG_EVERY + 1)
        phases = training.module.phases
        for iteration, stands_for in phases:
            training.pretend(iteration)
            total += stands_for * mean_time(training.update, STRIDE, 0.8 * seconds / len(phases))
        return total / ITERATIONS


def use_one_thread():
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)


def versions():
    return {
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


# Check

# Validation error, test error and sparsity error at iterations 0, 1000 and 2000 of seed 0, from the logs of the
# reference software under PyTorch 1.13, as printed in section 13 of its description.
GOLDEN = {
    ("NAC+", "add", 6): "4.991192 36.88666 0.452608 3.624397 26.80083 0.245195 2.376109 17.57222 0.00935141",
    ("NAC*", "mul", 6): "1.329205 229.8416 0.452608 1.063346 207.7622 0.239720 0.775069 175.9543 0.00160251",
    ("NALU", "add", 6): "2.673728 23.06518 0.0754216 1.088019 6.496249 0.404265 0.242958 1.594468 0.285895",
    ("G-NALU", "add", 6): "3.149781 28.70466 0.231520 2.254544 15.93530 0.191891 1.196912 5.678016 0.477165",
    ("iNALU", "mul", 6): "1.139165 198.0146 0.457924 0.122015 116.5926 0.290059 0.0708598 99.61727 0.216984",
    ("NAU", "sub", 6): "1.546296 12.84465 0.411523 0.149165 2.487608 0.0467057 0.0996915 1.662357 0.219430",
    ("NMU", "mul", 6): "1.081182 181.6661 0.316015 0.00690865 1.604853 0.0588446 1.952844e-6 4.432640e-4 0.00158709",
    ("NPU", "mul", 6): "3.173026 291.8536 0.0819808 1.955670 265.2174 0.177124 1.955670 265.2174 0.177124",
    ("RealNPU", "div", 6): "0.262121 1.149101 0.163962 0.0797599 0.315395 0.205349 0.0797115 0.325097 0.205349",
    ("NAC+", "add", 4): "2.764272 36.65524 0.452608 2.032352 26.94936 0.245546 1.338506 17.74908 0.0108066",
    ("NALU", "add", 4): "1.638971 16.49614 0.0754216 0.808147 8.838016 0.336431 0.565970 15.46751 0.349447",
    ("G-NALU", "add", 4): "1.909167 20.60938 0.231520 1.180767 11.44278 0.188657 0.799246 8.045872 0.434415",
    ("iNALU", "mul", 4): "1.746466 294.6907 0.457924 0.709209 185.9764 0.141881 0.182650 61.93465 0.149623",
    ("NAU", "sub", 4): "3.120313 40.68314 0.411523 0.458849 6.059004 0.410234 0.0270775 0.358922 0.143782",
    ("NMU", "mul", 4):
        "1.726494 248.9514 0.316015 5.093442e-4 0.0541576 0.0130550 1.790387e-11 1.895802e-9 2.443790e-6",
    ("NPU", "mul", 4): "2.498382 300.4862 0.0819808 1.499184 307.7486 0.142769 0.00735593 59.30579 0.175988",
    ("RealNPU", "div", 4): "6129.486 1.430464 0.163962 68761.81 1.354337 0.0940716 29597.02 1.424248 0.0448427",
}
CHECK_ITERATIONS = 2001
CHECK_TOLERANCE = 1e-3


def check_batches():
    """True if the two batched forms see the same bits: then one of them is enough for the golden rows."""
    good = True
    for operation in OPERATIONS:
        own, shared = OwnBatches(operation), SharedBatches(operation)
        same = all(
            torch.equal(left, right)
            for _ in range(2 * SharedBatches.CHUNK + 1)
            for left, right in zip(own.next_batch(), shared.next_batch(), strict=True)
        )
        good = good and same
        print(f"{'ok  ' if same else 'FAIL'} own and shared batches of {operation} are the same bits", flush=True)
    return good


def check(pairs):
    """Prints a line per golden row and form. True if all are within the tolerance."""
    good = check_batches()
    batched_rows = {}
    for (module, operation, range_index), text in GOLDEN.items():
        if (module, operation) not in pairs:
            continue
        if (module, operation) not in batched_rows:
            training = BatchedTraining(module, operation, SharedBatches(operation))
            training.train(CHECK_ITERATIONS)
            batched_rows[module, operation] = training.rows
        loop = LoopTraining(module, operation, range_index, seed=0)
        loop.train(CHECK_ITERATIONS)
        golden = [float(number) for number in text.split()]
        for form, rows, run in (
            ("loop", loop.rows, 0),
            ("batched", batched_rows[module, operation], range_index * len(SEEDS)),
        ):
            values = [float(quantity[run]) for row in rows for quantity in row]
            errors = [abs(value - expected) / expected for value, expected in zip(values, golden, strict=True)]
            fine = max(errors) <= CHECK_TOLERANCE
            good = good and fine
            last = " / ".join(f"{value:.7g}" for value in values[6:])
            print(f"{'ok  ' if fine else 'FAIL'} {form:8}{module:8}{operation} range {range_index}: largest relative "
                  f"difference {max(errors):.1e}, step 2000 {last}", flush=True)
    return good


def parse_pairs(text):
    pairs = []
    for word in text.split(","):
        module, _, operation = word.partition(":")
        if (module, operation) not in PAIRS:
            known = ",".join(":".join(pair) for pair in PAIRS)
            raise argparse.ArgumentTypeError(f"there is no pair '{word}'; use some of {known}")
        pairs.append((module, operation))
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.4,
                        help="processor time of a window of a pair and form (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="windows of each form, in turn (default: %(default)s)")
    parser.add_argument("--pairs", type=parse_pairs, default=PAIRS, metavar="MODULE:OPERATION,...",
                        help="default: all 23")
    parser.add_argument("--check", action="store_true", help="train 2001 iterations, one run and batched, and compare "
                        "with the logs of the reference software; about two minutes")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")

    use_one_thread()
    if arguments.check:
        return 0 if check(arguments.pairs) else 1

    results = []
    for module, operation in arguments.pairs:
        timing = PairTiming(module, operation)
        windows = [timing.window(arguments.seconds) for _ in range(arguments.rounds)]
        result = {"module": module, "operation": operation}
        for form in FORMS:
            times = [window[form] for window in windows]
            result[form] = {"best": min(times), "mean": sum(times) / len(times)}
        results.append(result)
        print(f"{module}:{operation} " + ", ".join(f"{form} {result[form]['best']:.2f} us" for form in FORMS),
              file=sys.stderr, flush=True)
    grid = {"pairs": len(PAIRS), "runs_per_pair": RUNS, "iterations": ITERATIONS}
    if set(arguments.pairs) == set(PAIRS):
        grid["core_seconds"] = {
            form: {statistic: sum(result[form][statistic] for result in results) * 1e-6 * RUNS * ITERATIONS
                   for statistic in ("best", "mean")}
            for form in FORMS
        }
    json.dump({
        "unit": "microseconds of processor time per iteration and run",
        "forms": FORMS,
        "seconds": arguments.seconds,
        "rounds": arguments.rounds,
        "versions": versions(),
        "pairs": results,
        "grid": grid,
    }, sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
