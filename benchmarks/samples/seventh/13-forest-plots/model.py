import tensorflow as tf


class Regressor(tf.keras.Model):
    def __init__(self, network, n_features):
        super().__init__()
        self.n_features = n_features
        self.hidden = [
            tf.keras.layers.Dense(u, activation=network.activation,
                                  kernel_initializer=network.kernel_init)
            for u in network.units
        ]
        self.drop = tf.keras.layers.Dropout(network.dropout)
        self.out = tf.keras.layers.Dense(1)

    def call(self, x, training=False):
        x = tf.ensure_shape(x, (None, self.n_features))
        for layer in self.hidden:
            x = self.drop(layer(x), training=training)
        return self.out(x)
