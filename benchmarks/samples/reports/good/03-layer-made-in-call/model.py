import tensorflow as tf


class GatedBlock(tf.keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.value = tf.keras.layers.Dense(units)
        self.gate = None

    def build(self, input_shape):
        self.gate = tf.keras.layers.Dense(self.units, activation="sigmoid")
        self.gate.build(input_shape)
        self.value.build(input_shape)

    def call(self, inputs):
        return self.value(inputs) * self.gate(inputs)


class ChurnModel(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.block = GatedBlock(units)
        self.head = tf.keras.layers.Dense(1, activation="sigmoid")

    def call(self, inputs):
        return self.head(self.block(inputs))
