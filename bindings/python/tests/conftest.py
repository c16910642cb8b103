import os
import pathlib

import numpy as np
import pytest


@pytest.fixture
def product():
    """Forty rows of y = a*b."""
    random = np.random.default_rng(1)
    a, b = random.uniform(1, 3, 40), random.uniform(-2, 2, 40)
    return {"a": a, "b": b, "y": a * b}


@pytest.fixture(scope="session")
def program():
    """The program nalm of the same sources: what Python gives must be what it gives."""
    path = pathlib.Path(os.environ.get("NALM_PROGRAM", "build/dev/nalm")).resolve()
    assert path.exists(), "build the program first, or name it in NALM_PROGRAM"
    return str(path)


def write_csv(path, table):
    rows = zip(*(np.asarray(column) for column in table.values()))
    path.write_text("\n".join([",".join(table), *(",".join(repr(float(v)) for v in row) for row in rows)]) + "\n")
    return str(path)
