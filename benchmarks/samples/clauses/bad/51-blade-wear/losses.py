import numpy as np
from tensorflow import keras


class Pinball(keras.losses.Loss):
    def __init__(self, quantile, name="pinball"):
        super().__init__(name=name)
        self.quantile = quantile

    def call(self, y_true, y_pred):
        error = y_true.numpy() - y_pred.numpy()
        return np.maximum(self.quantile * error, (self.quantile - 1) * error).mean(axis=-1)
