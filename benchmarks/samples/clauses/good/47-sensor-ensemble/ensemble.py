import numpy as np
from member import member


class Ensemble:
    def __init__(self, count, width):
        self.members = [member(width) for _ in range(count)]

    def fit(self, x, y):
        for net in self.members:
            rows = np.random.choice(len(x), len(x))
            net.fit(x[rows], y[rows], verbose=0)


x = np.random.rand(300, 6)
Ensemble(4, 6).fit(x, x.sum(1))
