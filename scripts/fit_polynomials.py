#!/usr/bin/env python3
"""Coefficients of the float kernels in src/simd/functions.hpp, and of asin in double.

Each polynomial is the minimax fit (Remez exchange, 60 decimal digits) of the function named beside it; the script prints
the coefficients rounded to float or double and the largest error of the fit relative to the function. Standard library only.
"""
from decimal import Decimal as D, getcontext
import struct

getcontext().prec = 60
PI = D("3.14159265358979323846264338327950288419716939937510582097494459")


def sin(x):
    term, total, k = x, x, 1
    while abs(term) > D("1e-58"):
        term = -term * x * x / ((2 * k) * (2 * k + 1))
        total += term
        k += 1
    return total


def cos(x):
    term, total, k = D(1), D(1), 1
    while abs(term) > D("1e-58"):
        term = -term * x * x / ((2 * k - 1) * (2 * k))
        total += term
        k += 1
    return total


def asin_over_x(z):
    """asin(x)/x - 1 of z = x^2, divided by z."""
    term, total, k = D(1) / 6, D(0), 1
    while abs(term) > D("1e-58"):
        total += term
        term = term * z * (2 * k + 1) ** 2 / ((2 * k + 2) * (2 * k + 3))
        k += 1
    return total


def solve(a, b):
    n = len(b)
    a = [row[:] + [b[i]] for i, row in enumerate(a)]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(a[r][c]))
        a[c], a[p] = a[p], a[c]
        for r in range(c + 1, n):
            f = a[r][c] / a[c][c]
            for k in range(c, n + 1):
                a[r][k] -= f * a[c][k]
    x = [D(0)] * n
    for r in reversed(range(n)):
        x[r] = (a[r][n] - sum(a[r][k] * x[k] for k in range(r + 1, n))) / a[r][r]
    return x


def remez(f, weight, lo, hi, degree, rounds=12, grid=4000):
    """Minimise max |weight(x) (f(x) - p(x))| on [lo, hi]."""
    n = degree + 2
    xs = [(lo + hi) / 2 - (hi - lo) / 2 * cos(PI * k / (n - 1)) for k in range(n)]
    points = [lo + (hi - lo) * k / grid for k in range(grid + 1)]
    values = [(x, f(x), weight(x)) for x in points]
    for _ in range(rounds):
        rows = [[x ** k for k in range(degree + 1)] + [(-1) ** i / weight(x)] for i, x in enumerate(xs)]
        solution = solve(rows, [f(x) for x in xs])
        c = solution[:-1]
        error = [(w * (y - sum(ck * x ** k for k, ck in enumerate(c))), x) for x, y, w in values]
        # One extremum per run of equal signs.
        extrema, best = [], error[0]
        for e in error[1:]:
            if (e[0] > 0) == (best[0] > 0):
                best = e if abs(e[0]) > abs(best[0]) else best
            else:
                extrema.append(best)
                best = e
        extrema.append(best)
        if len(extrema) < n:
            break
        while len(extrema) > n:
            extrema.pop(0 if abs(extrema[0][0]) < abs(extrema[-1][0]) else -1)
        xs = [x for _, x in extrema]
    return c, max(abs(e[0]) for e in error)


def report(name, c, error, double=False):
    print(f"{name}: error {float(error):.2e}")
    for k, ck in enumerate(c):
        print(f"  c{k} = {float(ck)!r}" if double else f"  c{k} = {struct.unpack('f', struct.pack('f', float(ck)))[0]:.9g}")


half_ln2 = D(2).ln() / 2 * D("1.01")
tiny = D("1e-9")


def away(x):
    return x if abs(x) > tiny else tiny


# exp(r) = 1 + r + r^2 P(r) on |r| <= ln(2)/2
report("exp", *remez(lambda x: (away(x).exp() - 1 - away(x)) / away(x) ** 2, lambda x: away(x) ** 2 + tiny,
                     -half_ln2, half_ln2, 4))
# log(1+f) = f + f^2 P(f) for 1+f in [sqrt(1/2), sqrt(2)]
lo, hi = D("0.5").sqrt() - 1, D(2).sqrt() - 1
report("log", *remez(lambda x: ((1 + away(x)).ln() - away(x)) / away(x) ** 2, lambda x: abs(away(x)) + tiny, lo, hi, 8))
# sin(r) = r + r^3 P(r^2), cos(r) = 1 - r^2/2 + r^4 P(r^2) on |r| <= pi/4, as functions of z = r^2
z = (PI / 4 * D("1.01")) ** 2
report("sin", *remez(lambda t: (sin(away(t).sqrt()) / away(t).sqrt() - 1) / away(t), lambda t: away(t), tiny, z, 2))
report("cos", *remez(lambda t: (cos(away(t).sqrt()) - 1 + away(t) / 2) / away(t) ** 2, lambda t: away(t) ** 2, tiny, z,
                     2))
# asin(x) = x + x^3 P(x^2) on |x| <= 1/2, as a function of z = x^2
report("asin", *remez(asin_over_x, away, tiny, D("0.2501"), 11, grid=1000), double=True)
# pi/2 and ln(2) in pieces whose products with small integers are exact in float
value, parts = PI / 2, []
for bits in (11, 11, 24):
    exponent = 0
    while value / D(2) ** exponent < 1:
        exponent -= 1
    scaled = D(int(value / D(2) ** exponent * 2 ** (bits - 1))) / 2 ** (bits - 1) * D(2) ** exponent
    parts.append(float(scaled))
    value -= scaled
print("pi/2 =", " + ".join(f"{p:.17g}" for p in parts))
