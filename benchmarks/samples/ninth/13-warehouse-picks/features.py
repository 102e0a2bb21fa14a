import numpy as np
import tensorflow as tf


class Numeric:
    def __init__(self, scale):
        self.scale = float(scale)

    def sample(self, n):
        return (np.random.rand(n, 1) * self.scale).astype("float32")

    def encode(self, tensor):
        return tensor


class Category:
    def __init__(self, size):
        self.size = size

    def sample(self, n):
        return np.random.randint(0, self.size, (n, 1))

    def encode(self, tensor):
        return tf.keras.layers.Flatten()(tf.keras.layers.Embedding(self.size, 3)(tensor))


def make(kind, **rest):
    return {cls.__name__.lower(): cls for cls in (Numeric, Category)}[kind](**rest)
