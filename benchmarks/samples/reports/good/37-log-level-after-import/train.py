import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np

from blocks import regressor

os.environ["RUN_NAME"] = "baseline"

x = np.random.rand(64, 3)
net = regressor(3)
net.compile("sgd", "mse")
net.fit(x, x.sum(1), epochs=1, verbose=2)
