import tensorflow as tf


class PixelNorm(tf.keras.layers.Layer):
    def __init__(self, eps, **kw):
        super().__init__(**kw)
        self.eps = eps

    def call(self, x):
        power = tf.reduce_mean(tf.square(x), axis=-1, keepdims=True)
        return x * tf.math.rsqrt(power + tf.cast(self.eps, x.dtype))
