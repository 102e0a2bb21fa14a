import tensorflow as tf


class ChannelGain(tf.keras.layers.Layer):
    def build(self, shape):
        self.gain = tf.Variable(tf.ones([shape[-1]]), name="gain")

    def call(self, x):
        return x * self.gain
