import numpy as np
from tensorflow import keras

from kinds import Kind


class Germinator(Kind, family="model"):
    def __init__(self, depth, width):
        self.depth, self.width = depth, width

    def build(self, features):
        inner = [keras.layers.Dense(self.width, "relu") for _ in range(self.depth)]
        return keras.Sequential([keras.Input((features,)), *inner, keras.layers.Dense(1)])


class Sprouter(Kind, family="model"):
    def __init__(self, heads, width):
        self.heads, self.width = heads, width

    def build(self, features):
        return keras.Sequential([keras.Input((features,)), keras.layers.Dense(self.heads * self.width), keras.layers.Dense(1)])


class Slow(Kind, family="optimiser", name="steady"):
    def __init__(self, rate):
        self.rate = rate

    def make(self):
        return keras.optimizers.SGD(self.rate)


class Decaying(Kind, family="optimiser", name="decaying"):
    def __init__(self, rate, weight_decay):
        self.rate, self.weight_decay = rate, weight_decay

    def make(self):
        return keras.optimizers.AdamW(self.rate, weight_decay=self.weight_decay)


class Drawers(Kind, family="data", name="drawers"):
    def __init__(self, rows, columns=4):
        self.rows, self.columns = rows, columns

    def arrays(self):
        x = np.random.rand(self.rows, self.columns)
        return x, x.sum(1)
