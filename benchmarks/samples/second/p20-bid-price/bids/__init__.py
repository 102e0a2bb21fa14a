import os

import yaml

with open(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bids.yaml")) as f:
    cfg = yaml.safe_load(f)

OUT = cfg["paths"]["out"]
MODEL = os.path.join(OUT, cfg["paths"]["model"])
