"""RILS-ROLS: arguments as peers.py gives them."""
import csv
import json
import re
import sys

import numpy as np
from rils_rols.rils_rols import RILSROLSRegressor

path, target, seed, limit, _ = sys.argv[1:]
with open(path, newline="") as file:
    rows = list(csv.reader(file))
names = [name for name in rows[0] if name != target]
table = np.array(rows[1:], dtype=float)
y = table[:, rows[0].index(target)]
X = table[:, [rows[0].index(name) for name in names]]
regressor = RILSROLSRegressor(max_time=int(limit), max_fit_calls=1_000_000_000, random_state=int(seed))
regressor.fit(X, y)
print(json.dumps({"formula": re.sub(r"\bx(\d+)\b", lambda m: names[int(m[1])], str(regressor.model_string()))}))
