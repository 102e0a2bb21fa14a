import sys

import yaml

import parts  # noqa: F401
from kinds import create

settings = yaml.safe_load(open(sys.argv[1] if len(sys.argv) > 1 else "vault.yaml"))
x, y = create("data", settings["data"]).arrays()
model = create("model", settings["model"]).build(x.shape[1])
model.compile(create("optimiser", settings["optimiser"]).make(), "mse")
extra = {"callbacks": []} if "--quick" not in sys.argv else {"steps_per_epoch": 1}
model.fit(x, y, verbose=2, **extra, **settings["run"])
