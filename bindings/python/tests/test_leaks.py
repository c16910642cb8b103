"""Memory after many fits. NALM_LEAK_FITS=10000 is the long form; CI has a few hundred."""
import os

import nalm
import numpy as np


def resident_kilobytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def test_fits_leave_nothing_behind():
    random = np.random.default_rng(1)
    a, b = random.uniform(1, 3, 20), random.uniform(1, 3, 20)
    table = {"a": a, "b": b, "y": a * b}
    for _ in range(100):
        nalm.fit(table, "y")
    before = resident_kilobytes()
    fits = int(os.environ.get("NALM_LEAK_FITS", "400"))
    for _ in range(fits):
        nalm.fit(table, "y")
    grown = resident_kilobytes() - before
    print(f"{fits} fits: {before} kB before, {grown} kB more after")
    # A fit that forgot to free its table, its formula or its model file would leave kilobytes each.
    assert grown < 1024
