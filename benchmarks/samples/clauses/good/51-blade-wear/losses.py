from tensorflow import keras


class Pinball(keras.losses.Loss):
    def __init__(self, quantile, name="pinball"):
        super().__init__(name=name)
        self.quantile = quantile

    def call(self, y_true, y_pred):
        error = y_true - y_pred
        return keras.ops.mean(keras.ops.maximum(self.quantile * error, (self.quantile - 1) * error), axis=-1)
