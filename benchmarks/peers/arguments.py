"""What peers.py gives to each fit_*.py: TABLE TARGET SEED SECONDS PROGRAM."""
import csv
import sys

import numpy as np

path, target, seed, limit, program = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
with open(path, newline="") as _file:
    _rows = list(csv.reader(_file))
names = [name for name in _rows[0] if name != target]
_table = np.array(_rows[1:], dtype=float)
y = _table[:, _rows[0].index(target)]
X = np.ascontiguousarray(_table[:, [_rows[0].index(name) for name in names]])  # RILS-ROLS reads it as it lies
