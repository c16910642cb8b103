#!/usr/bin/env python3
"""The expected values of sir_discovery_test.cpp and npu_gate_toy_test.cpp, by other means than the program's.

    python3 tests/tasks/reference_values.py

Plain Python 3, no packages. The trajectory: the classic Runge-Kutta method with 20,000 steps between two points. The
toy example: the midpoint rule with 2,000 x 500 points, gradients written out by hand.
"""

import math


def sir():
    """The fractional SIR model of Heim et al.: 40 points from 0 to 200, both ends included."""

    def slope(state):
        s, i, r = state
        q = 0.06 * math.sqrt(max(i, 0.0)) * math.sqrt(max(s, 0.0))
        return (-q + 0.01 * r, q - 0.05 * i, 0.05 * i - 0.01 * r)

    def moved(state, by, along):
        return tuple(x + by * d for x, d in zip(state, along))

    steps = 20_000
    h = 200 / 39 / steps
    state = (100.0, 0.01, 0.0)
    for point in range(40):
        if point in (0, 1, 5, 10, 20, 39):
            print(f"{point:4}  " + "  ".join(f"{x:.4f}" for x in state))
        for _ in range(steps if point < 39 else 0):
            a = slope(state)
            b = slope(moved(state, h / 2, a))
            c = slope(moved(state, h / 2, b))
            d = slope(moved(state, h, c))
            state = tuple(x + h / 6 * (p + 2 * q + 2 * r + s) for x, p, q, r, s in zip(state, a, b, c, d))


def gate_toy():
    """y = r1^w1 * r2^w2 with r = g*x + 1 - g should be x1; loss and norm of its gradient over w1 and w2."""
    n1, n2 = 2000, 500
    for w1, w2 in ((1, 0), (0.5, 0.2), (1, 0.5), (0.5, 0.9), (2, 0.9), (0, 0.9)):
        cells = []
        for g1, g2 in ((1, 1), (0.5, 0.5), (1, 0)):
            second = []
            for k in range(n2):
                r2 = g2 * 0.05 * (k + 0.5) / n2 + 1 - g2
                second.append((r2**w2, math.log(r2)))
            loss = by_w1 = by_w2 = 0.0
            for j in range(n1):
                x1 = 2 * (j + 0.5) / n1
                r1 = g1 * x1 + 1 - g1
                factor, logarithm = r1**w1, math.log(r1)
                for power, log2 in second:
                    y = factor * power
                    loss += (y - x1) ** 2
                    by_w1 += 2 * (y - x1) * y * logarithm
                    by_w2 += 2 * (y - x1) * y * log2
            total = n1 * n2
            cells.append(f"{loss / total:.4f} {math.hypot(by_w1, by_w2) / total:.4f}")
        print(f"{w1:4} {w2:4}   " + "   ".join(cells))


if __name__ == "__main__":
    print("point, S, I, R")
    sir()
    print("w1, w2; loss and gradient norm with gates (1,1), (0.5,0.5), (1,0)")
    gate_toy()
