import tensorflow as tf
from tensorflow import keras


def mlp(units, out):
    return keras.Sequential([keras.layers.Dense(u, activation="relu") for u in units] + [keras.layers.Dense(out)])


class VAE(keras.Model):
    def __init__(self, size, latent_dim, hidden, beta=1.0, likelihood="bernoulli", **kwargs):
        super().__init__(**kwargs)
        self.beta = beta
        self.likelihood = likelihood
        self.encoder = mlp(hidden, 2 * latent_dim)
        self.decoder = mlp(list(reversed(hidden)), size * size)
        self.flat = keras.layers.Flatten()

    def call(self, x):
        x = self.flat(x)
        mean, log_var = tf.split(self.encoder(x), 2, axis=-1)
        z = mean + tf.exp(log_var / 2) * tf.random.normal(tf.shape(mean))
        out = self.decoder(z)
        if self.likelihood == "gaussian":
            rec = tf.reduce_sum(tf.square(x - out), axis=-1)
        else:
            rec = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(x, out), axis=-1)
        kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=-1)
        self.add_loss(tf.reduce_mean(rec + self.beta * kl))
        return out
