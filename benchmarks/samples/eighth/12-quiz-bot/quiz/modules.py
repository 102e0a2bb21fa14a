import tensorflow as tf
from tensorflow.keras import layers


class SelfAttention(layers.Layer):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0, "d_model must be a multiple of num_heads"
        self.num_heads, self.depth = num_heads, d_model // num_heads
        self.qkv = layers.Dense(3 * d_model, use_bias=False)
        self.out = layers.Dense(d_model)

    def call(self, x):
        b, t = tf.shape(x)[0], tf.shape(x)[1]
        qkv = tf.reshape(self.qkv(x), (b, t, 3, self.num_heads, self.depth))
        q, k, v = tf.unstack(tf.transpose(qkv, (2, 0, 3, 1, 4)))
        scores = tf.matmul(q, k, transpose_b=True) / self.depth ** 0.5
        mask = tf.linalg.band_part(tf.ones((t, t)), -1, 0)
        y = tf.matmul(tf.nn.softmax(scores - 1e9 * (1 - mask)), v)
        return self.out(tf.reshape(tf.transpose(y, (0, 2, 1, 3)), (b, t, self.num_heads * self.depth)))


class Block(layers.Layer):
    def __init__(self, cfg):
        super().__init__()
        self.attention = SelfAttention(cfg.d_model, cfg.num_heads)
        self.mlp = tf.keras.Sequential([
            layers.Dense(cfg.dff, activation=cfg.activation),
            layers.Dense(cfg.d_model),
        ])
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.drop = layers.Dropout(cfg.dropout)

    def call(self, x, training=False):
        x = x + self.drop(self.attention(self.norm1(x)), training=training)
        return x + self.drop(self.mlp(self.norm2(x)), training=training)


class QuizModel(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.tokens = layers.Embedding(cfg.vocab_size, cfg.d_model)
        self.positions = layers.Embedding(cfg.max_len, cfg.d_model)
        self.blocks = [Block(cfg) for _ in range(cfg.num_layers)]
        self.head = layers.Dense(cfg.vocab_size)

    def call(self, ids, training=False):
        x = self.tokens(ids) + self.positions(tf.range(tf.shape(ids)[1]))
        for block in self.blocks:
            x = block(x, training=training)
        return self.head(x)
