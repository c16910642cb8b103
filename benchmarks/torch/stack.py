#!/usr/bin/python3
"""One iteration of the arithmetic dataset's multiplication, nalm beside PyTorch, in turn and on one thread.

100 inputs, NAU to 2, NMU to 1, batch 128, regulariser, Adam, clamping, and a fresh batch each time. PyTorch in two forms:
one run at a time, and 8 runs in one set of tensors. Microseconds per run and iteration; the best of the rounds counts.

    /usr/bin/python3 benchmarks/torch/stack.py build/dev/benchmarks/nalm_benchmark

Exit code: 0 if nalm needs at most 8 microseconds, 1 if more, 2 if something could not be measured.
"""

import json
import subprocess
import sys
import time

try:
    import torch
except ImportError as error:
    print(f"stack.py: {error}. Run it with /usr/bin/python3, after apt-get install python3-torch.", file=sys.stderr)
    sys.exit(2)

LIMIT = 8.0
ROUNDS = 3
NAME = "stack/100 inputs, NAU:2,NMU:1"
INPUTS, HIDDEN, BATCH = 100, 2, 128


class Stack:
    """So many runs at once; each has subsets of its own."""

    def __init__(self, runs):
        self.first = (torch.rand(runs, INPUTS, HIDDEN) - 0.5).requires_grad_()
        self.second = (torch.rand(runs, HIDDEN, 1) * 0.5 + 0.25).requires_grad_()
        self.optimiser = torch.optim.Adam([self.first, self.second], lr=1e-3)
        offsets = torch.randint(0, INPUTS - 37, (runs, 1))
        place = torch.arange(INPUTS)
        self.in_a = ((place >= offsets) & (place < offsets + 25)).float().unsqueeze(2)
        self.in_b = ((place >= offsets + 13) & (place < offsets + 38)).float().unsqueeze(2)
        self.runs = runs

    def iterate(self):
        x = 1 + torch.rand(self.runs, BATCH, INPUTS)
        t = torch.bmm(x, self.in_a) * torch.bmm(x, self.in_b)
        hidden = torch.bmm(x, self.first)
        w = self.second.transpose(1, 2)
        y = torch.prod(hidden * w + 1 - w, dim=2, keepdim=True)
        loss = ((y - t) ** 2).mean(dim=(1, 2)).sum()
        for weights in (self.first, self.second):
            size = weights.abs()
            loss = loss + 10 * torch.min(size, (1 - size).abs()).mean(dim=(1, 2)).sum()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        with torch.no_grad():
            self.first.clamp_(-1, 1)
            self.second.clamp_(0, 1)


def microseconds(stack, iterations):
    for _ in range(20):
        stack.iterate()
    start = time.process_time()
    for _ in range(iterations):
        stack.iterate()
    return (time.process_time() - start) / iterations / stack.runs * 1e6


def of_nalm(program):
    command = [program, f"--benchmark_filter={NAME}", "--benchmark_format=json"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    best = [b for b in json.loads(result.stdout)["benchmarks"] if b["name"].endswith("_best")]
    return best[0]["per_run"] * 1e6


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    rounds = []
    try:
        for _ in range(ROUNDS):
            rounds.append((of_nalm(sys.argv[1]), microseconds(Stack(1), 300), microseconds(Stack(8), 150)))
    except (OSError, subprocess.CalledProcessError, LookupError, ValueError) as error:
        print(f"stack.py: {sys.argv[1]} could not be measured: {error}", file=sys.stderr)
        return 2
    nalm, loop, batched = (min(values) for values in zip(*rounds))
    print(f"nalm                     {nalm:8.2f} us per run and iteration")
    print(f"PyTorch, one run         {loop:8.2f} us  {loop / nalm:6.1f} times nalm's")
    print(f"PyTorch, 8 runs at once  {batched:8.2f} us  {batched / nalm:6.1f} times nalm's")
    return 0 if nalm <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
