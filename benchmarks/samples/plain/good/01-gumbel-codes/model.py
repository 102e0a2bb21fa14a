import tensorflow as tf


class CodeAutoencoder(tf.keras.Model):
    """Autoencoder with a categorical bottleneck relaxed by Gumbel noise."""

    def __init__(self, features, codes=8, levels=4):
        super().__init__()
        self.codes, self.levels = codes, levels
        self.enc = tf.keras.layers.Dense(64, activation="relu")
        self.logits = tf.keras.layers.Dense(codes * levels)
        self.dec = tf.keras.layers.Dense(64, activation="relu")
        self.out = tf.keras.layers.Dense(features)

    def call(self, x, temperature):
        logits = tf.reshape(self.logits(self.enc(x)), [-1, self.codes, self.levels])
        u = tf.random.uniform(tf.shape(logits), 1e-6, 1.0 - 1e-6)
        soft = tf.nn.softmax((logits - tf.math.log(-tf.math.log(u))) / temperature)
        flat = tf.reshape(soft, [-1, self.codes * self.levels])
        return self.out(self.dec(flat))
