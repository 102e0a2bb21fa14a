"""The one configuration object of this project."""
import os
import yaml
from easydict import EasyDict as edict

cfg = edict()


def setup(path):
    with open(path, encoding="utf-8") as handle:
        fresh = yaml.safe_load(handle)
    fresh.pop("COMMON")
    fresh["SOLVER"]["LR"] = float(fresh["SOLVER"]["LR"])
    cfg.update(edict(fresh))
    cfg.RUN.SHEETS = int(os.environ.get("INK_SHEETS", cfg.RUN.SHEETS))
    return cfg
