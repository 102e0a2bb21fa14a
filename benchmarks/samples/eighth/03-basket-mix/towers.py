import tensorflow as tf
from tensorflow.keras import layers


class Tower(tf.keras.Model):
    def __init__(self, vocab, dim, units, activation):
        super().__init__()
        self.embed = layers.Embedding(vocab, dim)
        self.hidden = [layers.Dense(u, activation=activation) for u in units[:-1]]
        self.head = layers.Dense(units[-1])

    def call(self, ids):
        x = self.embed(ids)
        for layer in self.hidden:
            x = layer(x)
        return tf.math.l2_normalize(self.head(x), axis=-1)


class TwoTower(tf.keras.Model):
    """In-batch softmax over the items of the batch."""

    def __init__(self, data, cfg):
        super().__init__()
        self.user_tower = Tower(data.num_users, cfg.embedding_dim, cfg.user_layers, cfg.activation)
        self.item_tower = Tower(data.num_items, cfg.embedding_dim, cfg.item_layers, cfg.activation)
        self.temperature = cfg.temperature

    def call(self, inputs):
        users = self.user_tower(inputs["user"])
        items = self.item_tower(inputs["item"])
        scores = tf.matmul(users, items, transpose_b=True) / self.temperature
        return tf.nn.softmax(scores)
