import tensorflow as tf
from tensorflow.keras import layers


class VAE(tf.keras.Model):
    def __init__(self, latent=2, width=10):
        super().__init__()
        self.beta = 0.0
        self.enc = layers.Dense(2 * latent)
        self.dec = layers.Dense(width)
        self.total = tf.keras.metrics.Mean(name="loss")
        self.weighted = tf.keras.metrics.Mean(name="weighted_kl")

    @property
    def metrics(self):
        return [self.total, self.weighted]

    def call(self, x):
        return self.dec(tf.split(self.enc(x), 2, axis=-1)[0])

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mu, logvar = tf.split(self.enc(x), 2, axis=-1)
            z = mu + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mu))
            rec = tf.reduce_mean(tf.reduce_sum((x - self.dec(z)) ** 2, -1))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mu**2 - tf.exp(logvar), -1))
            loss = rec + self.beta * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.total.update_state(loss)
        self.weighted.update_state(loss - rec)
        return {m.name: m.result() for m in self.metrics}
