"""Learn how a healthy pump vibrates; what is badly rebuilt is reported as a fault."""
import sys

import numpy as np
import tensorflow as tf

import conf


class Autoencoder(tf.keras.Model):
    def __init__(self, net, shape, replicas):
        super().__init__()
        self.replicas = replicas
        self.noise = tf.keras.layers.GaussianNoise(net.noise)
        self.encoder = tf.keras.Sequential(
            [tf.keras.layers.Flatten()]
            + [tf.keras.layers.Dense(w, "relu") for w in net.widths]
            + [tf.keras.layers.Dense(net.latent_dim)]
        )
        self.decoder = tf.keras.Sequential(
            [tf.keras.layers.Dense(w, "relu") for w in reversed(net.widths)]
            + [tf.keras.layers.Dense(int(np.prod(shape))), tf.keras.layers.Reshape(shape)]
        )

    def call(self, x, training=None):
        return self.decoder(self.encoder(self.noise(x, training=training)))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            parts = [tf.reduce_mean((part - self(part, training=True)) ** 2) for part in tf.split(x, self.replicas)]
            error = tf.add_n(parts) / self.replicas
        self.optimizer.apply(tape.gradient(error, self.trainable_variables), self.trainable_variables)
        return {"error": error}


def windows(data):
    t = np.arange(data.healthy_hours * data.stride + data.window)
    wave = np.stack([np.sin(t / (3 + s)) for s in range(data.sensors)], axis=-1).astype("float32")
    return np.stack([wave[i * data.stride:][: data.window] for i in range(data.healthy_hours)])


def main(path="pump.yml"):
    c = conf.load(path)
    tf.keras.utils.set_random_seed(6)
    x = windows(c.data)
    model = Autoencoder(c.model, x.shape[1:], c.train.replicas)
    model.compile(tf.keras.optimizers.Adam(c.train.lr))
    ds = tf.data.Dataset.from_tensor_slices(x).batch(c.train.batch_size, drop_remainder=True)
    log = model.fit(ds, epochs=c.train.epochs, verbose=0)
    print("error", round(float(log.history["error"][-1]), 6), "weights", model.count_params())


if __name__ == "__main__":
    main(*sys.argv[1:])
