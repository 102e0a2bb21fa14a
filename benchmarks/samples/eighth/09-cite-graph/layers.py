import tensorflow as tf


def normalize(adj, norm):
    deg = tf.reduce_sum(adj, axis=1)
    if norm == "symmetric":
        d = tf.math.rsqrt(deg)
        return adj * d[:, None] * d[None, :]
    if norm == "row":
        return adj / deg[:, None]
    raise ValueError(f"unknown normalization: {norm}")


class GCN(tf.keras.layers.Layer):
    def __init__(self, units, heads=1, norm="symmetric", regularizer=None):
        super().__init__()
        self.norm = norm
        self.dense = tf.keras.layers.Dense(units, kernel_regularizer=regularizer)

    def call(self, x, adj):
        return tf.matmul(normalize(adj, self.norm), self.dense(x))


class GAT(tf.keras.layers.Layer):
    def __init__(self, units, heads=1, norm=None, regularizer=None):
        super().__init__()
        if units % heads:
            raise ValueError(f"{units} units cannot be shared by {heads} heads")
        self.heads = [tf.keras.layers.Dense(units // heads, kernel_regularizer=regularizer) for _ in range(heads)]
        self.scores = [tf.keras.layers.Dense(2) for _ in range(heads)]

    def call(self, x, adj):
        outs = []
        for head, score in zip(self.heads, self.scores):
            h = head(x)
            s = score(h)
            e = tf.nn.leaky_relu(s[:, :1] + tf.transpose(s[:, 1:]))
            e = tf.where(adj > 0, e, -1e9)
            outs.append(tf.matmul(tf.nn.softmax(e), h))
        return tf.concat(outs, axis=-1)


LAYERS = {"gcn": GCN, "gat": GAT}
