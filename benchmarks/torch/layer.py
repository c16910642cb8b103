"""One layer, forwards and backwards: nalm.torch.NMU beside three ways to write the NMU in PyTorch.

PYTHONPATH=... python3 benchmarks/torch/layer.py [inputs outputs batch]    (one thread; needs the package and PyTorch)

Processor time, and rounds of all take turns, so that a busy machine is unfair to none of them.
"""

import statistics
import sys
import time

import torch

import nalm.torch

inputs, outputs, batch = (int(word) for word in sys.argv[1:4]) if len(sys.argv) > 1 else (100, 10, 128)
torch.set_num_threads(1)
torch.manual_seed(0)
x = (torch.rand(batch, inputs) + 0.5).requires_grad_()
layer = nalm.torch.NMU(inputs, outputs)
W = layer.W


def broadcast():
    return (x.unsqueeze(2) * W + (1 - W)).prod(1)


def one_input_at_a_time():
    y = torch.ones(batch, outputs)
    for i in range(inputs):
        y = y * (x[:, i : i + 1] * W[i] + (1 - W[i]))
    return y


def logarithms():  # of factors above 0, as these are
    return (x.unsqueeze(2) * W + (1 - W)).log().sum(1).exp()


ways = {"nalm.torch.NMU": lambda: layer(x), "broadcast, prod": broadcast, "one input at a time": one_input_at_a_time,
        "exp of a sum of logarithms": logarithms}
expected = broadcast().detach()
times = {name: [] for name in ways}
for round in range(20):
    for name, way in ways.items():
        repeats = 2 if way is one_input_at_a_time else 20
        begin = time.process_time()
        for _ in range(repeats):
            y = way()
            y.sum().backward()
            x.grad = W.grad = None
        times[name].append((time.process_time() - begin) / repeats)
    if round == 0:
        for name, way in ways.items():
            assert torch.allclose(way(), expected, rtol=1e-3), name
print(f"NMU with {inputs} inputs, {outputs} outputs, batch {batch}, float32, one thread, PyTorch {torch.__version__}")
print(f"{'forward and backward, µs':<28}{'best':>10}{'median':>10}")
for name, values in times.items():
    print(f"{name:<28}{1e6 * min(values):>10.0f}{1e6 * statistics.median(values):>10.0f}")
