import tensorflow as tf


class GatedBlock(tf.keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.value = tf.keras.layers.Dense(units)

    def call(self, inputs):
        gate = tf.keras.layers.Dense(self.units, activation="sigmoid")(inputs)
        return self.value(inputs) * gate


class ChurnModel(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.block = GatedBlock(units)
        self.head = tf.keras.layers.Dense(1, activation="sigmoid")

    def call(self, inputs):
        return self.head(self.block(inputs))
