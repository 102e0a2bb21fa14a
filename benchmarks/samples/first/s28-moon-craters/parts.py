"""Every part registers under its kind; only the chosen one sees its options."""
from tensorflow import keras


class Part:
    kinds = {}

    def __init_subclass__(cls, kind, **kwargs):
        super().__init_subclass__(**kwargs)
        Part.kinds[kind] = cls

    def __init__(self, options):
        self.options = options


class Adam(Part, kind="adam"):
    def make(self, rate):
        return keras.optimizers.Adam(rate)


class Sgd(Part, kind="sgd"):
    def make(self, rate):
        return keras.optimizers.SGD(rate, momentum=self.options["momentum"], nesterov=True)


class Constant(Part, kind="constant"):
    def rate(self, start):
        return start


class Stairs(Part, kind="stairs"):
    def rate(self, start):
        return keras.optimizers.schedules.ExponentialDecay(
            start, self.options["every"], self.options["gamma"], staircase=True)


class Plain(Part, kind="plain"):
    def layers(self):
        return [keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(self.options["units"], activation="relu")]


class Attention(Part, kind="attention"):
    def layers(self):
        return [SelfAttention(self.options["heads"], self.options["units"]), keras.layers.GlobalAveragePooling1D()]


class SelfAttention(keras.layers.Layer):
    def __init__(self, heads, units):
        super().__init__()
        self.inner = keras.layers.MultiHeadAttention(heads, units)

    def build(self, shape):
        self.inner.build(shape, shape)

    def call(self, x):
        return self.inner(x, x)


def part(section):
    return Part.kinds[section["kind"]](section)
