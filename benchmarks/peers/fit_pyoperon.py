"""Operon, by its scikit-learn class."""
import json

from pyoperon.sklearn import SymbolicRegressor
from arguments import X, limit, names, seed, y

# As much of its time as the limit gives; arithmetic only, as nalm has it. With error and length as objectives it keeps a
# front of models. Of these its default, the shortest description, wants to be told the size of the errors; the Bayesian
# criterion finds it in the residuals.
regressor = SymbolicRegressor(allowed_symbols="add,sub,mul,div,sqrt,square,constant,variable", objectives=["r2", "length"],
                              model_selection_criterion="bayesian_information_criterion", optimizer_iterations=10,
                              population_size=1000, pool_size=1000, max_length=50, max_time=limit,
                              generations=1_000_000, max_evaluations=1_000_000_000, n_threads=1, random_state=seed)
regressor.fit(X, y)
text = regressor.get_model_string(regressor.model_, 17, names)
print(json.dumps({"formula": text}))
