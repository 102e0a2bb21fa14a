import numpy as np
import yaml

import nets

P = yaml.safe_load(open("params.yaml"))
x, y = np.random.rand(200, 11), np.random.rand(200, 2)
net = nets.mlp(11, 2, **P["model"])
net.compile("adam", "huber")
net.fit(x, y, verbose=2, **P["train"])
