"""RILS-ROLS."""
import json
import re

from rils_rols.rils_rols import RILSROLSRegressor
from arguments import X, limit, names, seed, y

regressor = RILSROLSRegressor(max_time=limit, max_fit_calls=1_000_000_000, random_state=seed)
regressor.fit(X, y)
print(json.dumps({"formula": re.sub(r"\bx(\d+)\b", lambda m: names[int(m[1])], str(regressor.model_string()))}))
