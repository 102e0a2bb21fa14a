import tensorflow as tf

from .registry import head


@head("spore_bars")
class SporeBars(tf.keras.layers.Layer):
    def __init__(self, bars=2, dropout=0.0, **kwargs):
        super().__init__(**kwargs)
        self.bars = tf.keras.layers.Dense(bars, activation="tanh")
        self.drop = tf.keras.layers.Dropout(dropout)
        self.out = tf.keras.layers.Dense(1)

    def call(self, x, training=None):
        return self.out(self.drop(self.bars(x), training=training))
