"""Small building blocks shared by the gauge models."""
import tensorflow as tf


class AffineCalibration(tf.keras.layers.Layer):
    """Per-sensor gain and offset, applied before anything else."""

    def __init__(self, sensors, **kwargs):
        super().__init__(**kwargs)
        self.sensors = sensors
        self.gain = tf.Variable(tf.ones([sensors]), trainable=True, name="gain")
        self.offset = tf.Variable(tf.zeros([sensors]), trainable=True, name="offset")

    def call(self, inputs):
        return inputs * self.gain + self.offset

    def get_config(self):
        return {**super().get_config(), "sensors": self.sensors}


class Clip(tf.keras.layers.Layer):
    def __init__(self, low, high, **kwargs):
        super().__init__(**kwargs)
        self.low, self.high = low, high

    def call(self, inputs):
        return tf.clip_by_value(inputs, self.low, self.high)

    def get_config(self):
        return {**super().get_config(), "low": self.low, "high": self.high}
