import tensorflow as tf
from tensorflow.keras import layers


class CausalAttention(layers.Layer):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads, self.depth = heads, d_model // heads
        self.qkv = layers.Dense(3 * d_model)
        self.out = layers.Dense(d_model)

    def call(self, x):
        batch, length = tf.shape(x)[0], x.shape[1]
        qkv = tf.reshape(self.qkv(x), (batch, length, 3, self.heads, self.depth))
        q, k, v = tf.unstack(tf.transpose(qkv, (2, 0, 3, 1, 4)))
        scores = tf.matmul(q, k, transpose_b=True) / self.depth ** 0.5
        mask = tf.linalg.band_part(tf.ones((length, length)), -1, 0)
        weights = tf.nn.softmax(scores + (1.0 - mask) * -1e9)
        mixed = tf.transpose(tf.matmul(weights, v), (0, 2, 1, 3))
        return self.out(tf.reshape(mixed, (batch, length, self.heads * self.depth)))


class Block(layers.Layer):
    def __init__(self, d_model, block):
        super().__init__()
        self.attention = CausalAttention(d_model, block["heads"])
        self.feed = tf.keras.Sequential([
            layers.Dense(block["ff_dim"], activation="gelu"), layers.Dense(d_model)])
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.drop = layers.Dropout(block["dropout"])

    def call(self, x, training=False):
        x = x + self.drop(self.attention(self.norm1(x)), training=training)
        return x + self.drop(self.feed(self.norm2(x)), training=training)


class RhymeModel(tf.keras.Model):
    def __init__(self, model, vocab, max_len):
        super().__init__()
        self.tokens = layers.Embedding(vocab, model["d_model"])
        self.places = layers.Embedding(max_len, model["d_model"])
        self.blocks = [Block(model["d_model"], model["block"]) for _ in range(model["n_blocks"])]
        self.head = layers.Dense(vocab)

    def call(self, ids, training=False):
        x = self.tokens(ids) + self.places(tf.range(ids.shape[1]))
        for block in self.blocks:
            x = block(x, training=training)
        return self.head(x)
