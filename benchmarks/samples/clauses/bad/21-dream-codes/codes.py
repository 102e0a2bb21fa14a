import tensorflow as tf


class Codes(tf.keras.Model):
    def __init__(self, size):
        super().__init__()
        self.encoder = tf.keras.layers.Dense(2 * size)
        self.decoder = tf.keras.layers.Dense(64)

    def call(self, x, training=False):
        mean, spread = tf.split(self.encoder(x), 2, axis=-1)
        code = mean + tf.random.normal(tf.shape(mean)) * tf.exp(0.5 * spread)
        return self.decoder(code), mean, spread
