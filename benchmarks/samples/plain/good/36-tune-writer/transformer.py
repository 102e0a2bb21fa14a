import tensorflow as tf


class DecoderBlock(tf.keras.layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = tf.keras.layers.MultiHeadAttention(heads, width // heads)
        self.norm1 = tf.keras.layers.LayerNormalization()
        self.norm2 = tf.keras.layers.LayerNormalization()
        self.wide = tf.keras.layers.Dense(2 * width, activation="relu")
        self.narrow = tf.keras.layers.Dense(width)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, h, use_causal_mask=True)
        return x + self.narrow(self.wide(self.norm2(x)))


class TokenAndPlace(tf.keras.layers.Layer):
    def __init__(self, vocab, length, width):
        super().__init__()
        self.tokens = tf.keras.layers.Embedding(vocab, width)
        self.places = tf.keras.layers.Embedding(length, width)

    def call(self, ids):
        return self.tokens(ids) + self.places(tf.range(tf.shape(ids)[1]))


def build(vocab, length, width=32):
    ids = tf.keras.Input((length,), dtype="int32")
    x = TokenAndPlace(vocab, length, width)(ids)
    for _ in range(2):
        x = DecoderBlock(width, heads=2)(x)
    return tf.keras.Model(ids, tf.keras.layers.Dense(vocab)(x))
