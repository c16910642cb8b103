"""gplearn."""
import json
import time

import numpy as np
from gplearn.genetic import SymbolicRegressor
from arguments import X, limit, names, seed, y

end = time.monotonic() + limit
regressor = SymbolicRegressor(function_set=("add", "sub", "mul", "div", "sqrt"), population_size=1000, generations=1,
                              warm_start=True, random_state=seed, parsimony_coefficient=0.001, metric="rmse",
                              const_range=(-5.0, 5.0), feature_names=names, stopping_criteria=1e-12)
# It has no limit of time: a generation at a time, as long as there is some.
while True:
    regressor.fit(X, y)
    if time.monotonic() > end or regressor.run_details_["best_fitness"][-1] < 1e-12:
        break
    regressor.set_params(generations=regressor.generations + 1)


def text(program):
    """As Python writes it, with what gplearn's division and root do where others have no value left out."""
    signs = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
    stack = []
    for node in reversed(program):
        if isinstance(node, int):
            stack.append(names[node])
        elif isinstance(node, float):
            stack.append(f"({node!r})")
        elif node.name in signs:
            left, right = stack.pop(), stack.pop()
            stack.append(f"({left} {signs[node.name]} {right})")
        else:
            stack.append(f"sqrt(abs({stack.pop()}))")
    return stack[0]


print(json.dumps({"formula": text([float(n) if isinstance(n, (float, np.floating)) else n for n in regressor._program.program])}))
