import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

Z = 8
keras = tf.keras


def build_generator():
    return keras.Sequential([
        keras.Input((Z,)),
        layers.Dense(32), layers.LeakyReLU(0.2),
        layers.Dense(16, activation="tanh"),
    ], name="generator")


def build_discriminator():
    return keras.Sequential([
        keras.Input((16,)),
        layers.Dense(32), layers.LeakyReLU(0.2), layers.Dropout(0.3),
        layers.Dense(1),
    ], name="discriminator")


class StrokeGAN:
    def __init__(self, lr=2e-4):
        self.g = build_generator()
        self.d = build_discriminator()
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)
        self.optimizer = keras.optimizers.Adam(lr, beta_1=0.5)
        self.step = tf.function(self._step)

    def _step(self, real):
        z = tf.random.normal((tf.shape(real)[0], Z))
        with tf.GradientTape(persistent=True) as tape:
            fake = self.g(z, training=True)
            d_real = self.d(real, training=True)
            d_fake = self.d(fake, training=True)
            d_loss = self.bce(tf.ones_like(d_real), d_real) + self.bce(tf.zeros_like(d_fake), d_fake)
            g_loss = self.bce(tf.ones_like(d_fake), d_fake)
        d_grads = tape.gradient(d_loss, self.d.trainable_variables)
        g_grads = tape.gradient(g_loss, self.g.trainable_variables)
        del tape
        self.optimizer.apply_gradients(zip(d_grads, self.d.trainable_variables))
        self.optimizer.apply_gradients(zip(g_grads, self.g.trainable_variables))
        return d_loss, g_loss


def strokes(n=1024):
    rng = np.random.default_rng(1)
    a = rng.uniform(-1, 1, (n, 1))
    b = rng.uniform(-0.4, 0.4, (n, 1))
    return np.clip(a * np.linspace(-1, 1, 16)[None] + b, -1, 1).astype("float32")


if __name__ == "__main__":
    data = tf.data.Dataset.from_tensor_slices(strokes()).shuffle(1024).batch(64, drop_remainder=True)
    gan = StrokeGAN()
    for epoch in range(3):
        for real in data:
            d_loss, g_loss = gan.step(real)
        print("epoch", epoch, "d %.3f g %.3f" % (float(d_loss), float(g_loss)))
