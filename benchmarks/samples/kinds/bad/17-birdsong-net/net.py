import tensorflow as tf
from tensorflow.keras import layers


class SongNet(tf.keras.Model):
    """Mel patches -> species. `head` gives per-frame attention as well."""

    def __init__(self, species, **kw):
        super().__init__(**kw)
        self.conv1 = layers.Conv1D(16, 5, activation="relu", padding="same")
        self.conv2 = layers.Conv1D(16, 5, activation="relu", padding="same")
        self.att = layers.Dense(1)
        self.cls = layers.Dense(species, activation="softmax")

    def call(self, x, training=False):
        h = self.conv2(self.conv1(x))
        w = tf.nn.softmax(self.att(h), axis=1)
        return self.cls(tf.reduce_sum(w * h, axis=1))
