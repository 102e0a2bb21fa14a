import tensorflow as tf
from tensorflow.keras import layers


def mlp(n_in, n_out):
    return tf.keras.Sequential([tf.keras.Input((n_in,)), layers.Dense(16), layers.LeakyReLU(), layers.Dense(n_out)])


class TabularGan:
    def __init__(self, width, noise=4, lr=1e-3):
        self.noise = noise
        self.gen = mlp(noise, width)
        self.disc = mlp(width, 1)
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        self.opt = tf.keras.optimizers.Adam(lr, beta_1=0.5)

    def step(self, real):
        z = tf.random.normal([tf.shape(real)[0], self.noise])
        with tf.GradientTape() as gt, tf.GradientTape() as dt:
            fake = self.gen(z, training=True)
            on_fake = self.disc(fake, training=True)
            on_real = self.disc(real, training=True)
            g_loss = self.bce(tf.ones_like(on_fake), on_fake)
            d_loss = self.bce(tf.ones_like(on_real), on_real) + self.bce(tf.zeros_like(on_fake), on_fake)
        g_grads = gt.gradient(g_loss, self.gen.trainable_variables)
        d_grads = dt.gradient(d_loss, self.disc.trainable_variables)
        self.opt.apply_gradients(zip(g_grads, self.gen.trainable_variables))
        self.opt.apply_gradients(zip(d_grads, self.disc.trainable_variables))
        return g_loss, d_loss
