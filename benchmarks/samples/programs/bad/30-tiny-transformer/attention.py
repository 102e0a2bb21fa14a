import tensorflow as tf
from tensorflow.keras import layers


class SelfAttention(layers.Layer):
    def __init__(self, dim, heads, **kwargs):
        super().__init__(**kwargs)
        assert dim % heads == 0
        self.dim, self.heads, self.depth = dim, heads, dim // heads
        self.q = layers.Dense(dim, use_bias=False)
        self.k = layers.Dense(dim, use_bias=False)
        self.v = layers.Dense(dim, use_bias=False)
        self.o = layers.Dense(dim)

    def build(self, shape):
        for d in (self.q, self.k, self.v, self.o):
            d.build((*shape[:-1], self.dim))
        super().build(shape)

    def split_heads(self, x):
        b, t = tf.shape(x)[0], tf.shape(x)[1]
        return tf.reshape(x, (b, self.heads, t, self.depth))

    def call(self, x):
        q, k, v = (self.split_heads(p(x)) for p in (self.q, self.k, self.v))
        score = tf.matmul(q, k, transpose_b=True) / tf.sqrt(float(self.depth))
        t = tf.shape(x)[1]
        causal = tf.linalg.band_part(tf.ones((t, t)), -1, 0)
        score += (1.0 - causal) * -1e9
        mix = tf.matmul(tf.nn.softmax(score), v)
        mix = tf.transpose(mix, (0, 2, 1, 3))
        return self.o(tf.reshape(mix, (tf.shape(x)[0], t, self.dim)))
