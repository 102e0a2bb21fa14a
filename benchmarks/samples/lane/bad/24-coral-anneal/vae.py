import tensorflow as tf
import keras
from keras import layers


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seeds = keras.random.SeedGenerator(1)

    def call(self, inputs):
        mean, log_var = inputs
        noise = keras.random.normal(keras.ops.shape(mean), seed=self.seeds)
        return mean + keras.ops.exp(0.5 * log_var) * noise


def encoder(dims, latent):
    x = inputs = keras.Input((dims,))
    x = layers.Dense(64, activation="relu")(x)
    mean = layers.Dense(latent)(x)
    log_var = layers.Dense(latent)(x)
    return keras.Model(inputs, [mean, log_var, Sampling()([mean, log_var])])


def decoder(dims, latent):
    z = keras.Input((latent,))
    x = layers.Dense(64, activation="relu")(z)
    return keras.Model(z, layers.Dense(dims)(x))


class CoralVAE:
    def __init__(self, dims, latent=4, lr=2e-3):
        self.encoder = encoder(dims, latent)
        self.decoder = decoder(dims, latent)
        self.optimizer = keras.optimizers.Adam(lr)
        self.variables = (
            self.encoder.trainable_variables + self.decoder.trainable_variables
        )

    @tf.function
    def train_step(self, x, beta):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(x, training=True)
            rebuilt = self.decoder(z, training=True)
            fit = tf.reduce_mean(tf.reduce_sum(tf.square(x - rebuilt), axis=1))
            kl = -0.5 * tf.reduce_mean(
                tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
            )
            loss = fit + beta * kl
        grads = tape.gradient(loss, self.variables)
        self.optimizer.apply_gradients(zip(grads, self.variables))
        return fit, kl
