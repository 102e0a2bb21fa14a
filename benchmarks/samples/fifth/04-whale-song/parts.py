import numpy as np
from tensorflow import keras
from keras import layers, ops

from registry import AUGMENTS, LOSSES, MODELS, OPTIMIZERS


@MODELS.register("cnn")
def cnn(frames, filters, kernel, pool=2, dropout=0.0):
    m = keras.Sequential([keras.Input((frames, 1))])
    for f in filters:
        m.add(layers.Conv1D(f, kernel, padding="same", activation="relu"))
        m.add(layers.MaxPooling1D(pool))
    m.add(layers.GlobalAveragePooling1D())
    m.add(layers.Dropout(dropout))
    m.add(layers.Dense(1))
    return m


@MODELS.register()
class Gru(keras.Model):
    def __init__(self, frames, units, bidirectional=False):
        super().__init__()
        self.cell = layers.GRU(units)
        if bidirectional:
            self.cell = layers.Bidirectional(self.cell)
        self.head = layers.Dense(1)

    def call(self, x):
        return self.head(self.cell(x))


@LOSSES.register("bce")
def bce(smoothing=0.0):
    return keras.losses.BinaryCrossentropy(from_logits=True, label_smoothing=smoothing)


@LOSSES.register("focal")
def focal(gamma=2.0, **_):
    def loss(y, logit):
        y = ops.cast(y, "float32")
        p = ops.sigmoid(logit)
        pt = y * p + (1 - y) * (1 - p)
        return ops.mean(-ops.power(1 - pt, gamma) * ops.log(pt + 1e-7))
    return loss


for cls in (keras.optimizers.Adam, keras.optimizers.AdamW, keras.optimizers.SGD):
    OPTIMIZERS[cls.__name__.lower()] = cls


@AUGMENTS.register("shift")
def shift(x, amount, wrap=True):
    return np.roll(x, amount, axis=1) if wrap else x[:, amount:]


@AUGMENTS.register("hiss")
def hiss(x, level=0.01):
    return x + np.random.normal(0, level, x.shape)
