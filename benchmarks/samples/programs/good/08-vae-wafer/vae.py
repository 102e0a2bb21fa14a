import keras
from keras import layers, ops

SEED = 1337


class Sampling(layers.Layer):
    """z = mu + sigma * eps"""

    def __init__(self, seed=SEED, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def call(self, inputs):
        mean, log_var = inputs
        eps = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_var) * eps


class KLPenalty(layers.Layer):
    def __init__(self, weight, **kwargs):
        super().__init__(**kwargs)
        self.weight = weight

    def call(self, inputs):
        mean, log_var = inputs
        kl = -0.5 * ops.sum(1 + log_var - ops.square(mean) - ops.exp(log_var), axis=1)
        self.add_loss(self.weight * ops.mean(kl))
        return mean


def build(dim, latent=2, beta=0.01):
    inp = keras.Input((dim,))
    h = layers.Dense(24, activation="relu")(inp)
    mean = layers.Dense(latent, name="mean")(h)
    log_var = layers.Dense(latent, name="log_var")(h)
    mean = KLPenalty(beta)([mean, log_var])
    z = Sampling(name="z")([mean, log_var])
    h = layers.Dense(24, activation="relu")(z)
    out = layers.Dense(dim)(h)
    return keras.Model(inp, out), keras.Model(inp, z)
