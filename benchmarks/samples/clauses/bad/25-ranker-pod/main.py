import numpy as np
import yaml
from ranker import Ranker

config = yaml.safe_load(open("ranker.yaml"))
x = np.random.rand(1000, config["width"])
Ranker(config).fit(x, x.sum(1))
