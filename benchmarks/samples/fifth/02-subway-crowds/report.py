import sys

import numpy as np
from tensorflow import keras

from lib import load

cfg = load(sys.argv[1])
net = keras.models.load_model(cfg.out)
rush = np.full((1, cfg.data.gates), cfg.report.rush_level, "float32")
print(cfg.report.title, float(net(rush)[0, 0]))
