import tensorflow as tf
from tensorflow.keras import layers


class SelfAttention(layers.Layer):
    def __init__(self, width, heads, **kwargs):
        super().__init__(**kwargs)
        self.heads = heads
        self.size = width // heads
        self.qkv = layers.Dense(3 * width)
        self.out = layers.Dense(width)

    def split(self, x):
        x = tf.reshape(x, [tf.shape(x)[0], x.shape[1], self.heads, self.size])
        return tf.transpose(x, [0, 2, 1, 3])

    def call(self, x):
        q, k, v = (self.split(t) for t in tf.split(self.qkv(x), 3, axis=-1))
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * self.size ** -0.5)
        mixed = tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3])
        mixed = tf.reshape(mixed, [tf.shape(x)[0], x.shape[1], self.heads * self.size])
        return self.out(mixed)


class Block(layers.Layer):
    def __init__(self, conf, **kwargs):
        super().__init__(**kwargs)
        self.attention = SelfAttention(conf["width"], conf["heads"])
        self.ffn = tf.keras.Sequential([
            layers.Dense(conf["ffn"], activation=conf["activation"]),
            layers.Dense(conf["width"]),
        ])
        self.drop = layers.Dropout(conf["dropout"])
        self.norms = [layers.LayerNormalization() for _ in range(2)]

    def call(self, x, training=None):
        x = self.norms[0](x + self.drop(self.attention(x), training=training))
        return self.norms[1](x + self.drop(self.ffn(x), training=training))


def build(conf, frames):
    inputs = tf.keras.Input((frames, conf["mel_bins"]))
    x = layers.Dense(conf["width"])(inputs)
    for i in range(conf["depth"]):
        x = Block(conf, name=f"block_{i}")(x)
    return tf.keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))
