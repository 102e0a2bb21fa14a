import tensorflow as tf

from .registry import head


@head("spore_disc")
class SporeDisc(tf.keras.layers.Layer):
    def __init__(self, rings, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.rings = [tf.keras.layers.Dense(4 * (i + 1), activation="relu") for i in range(rings)]
        self.drop = tf.keras.layers.Dropout(dropout)
        self.out = tf.keras.layers.Dense(1)

    def call(self, x, training=None):
        for ring in self.rings:
            x = ring(x)
        return self.out(self.drop(x, training=training))
