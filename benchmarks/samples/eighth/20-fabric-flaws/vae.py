import tensorflow as tf
from tensorflow.keras import layers


class VAE(tf.keras.Model):
    def __init__(self, cfg, kl_weight=1.0):
        super().__init__()
        self.kl_weight = kl_weight
        size, enc, dec = cfg["image_size"], cfg["encoder"], cfg["decoder"]
        self.encoder = tf.keras.Sequential([tf.keras.Input((size, size, cfg["channels"]))])
        for f in enc["filters"]:
            self.encoder.add(layers.Conv2D(f, 3, strides=2, padding="same", activation="relu"))
        self.encoder.add(layers.Flatten())
        self.encoder.add(layers.Dense(2 * enc["latent_dim"]))

        start = dec["start"]
        self.decoder = tf.keras.Sequential([tf.keras.Input((enc["latent_dim"],))])
        self.decoder.add(layers.Dense(start * start * 8, activation="relu"))
        self.decoder.add(layers.Reshape((start, start, 8)))
        for f in dec["filters"]:
            self.decoder.add(layers.Conv2DTranspose(f, 3, strides=2, padding="same", activation="relu"))
        self.decoder.add(layers.Conv2D(cfg["channels"], 3, padding="same", activation=dec["output_activation"]))
        self.trackers = {k: tf.keras.metrics.Mean(name=k) for k in ("total", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x, training=False):
        mean, log_var = tf.split(self.encoder(x), 2, axis=-1)
        noise = tf.random.normal(tf.shape(mean)) if training else 0.0
        return self.decoder(mean + noise * tf.exp(0.5 * log_var)), mean, log_var

    def train_step(self, x):
        with tf.GradientTape() as tape:
            y, mean, log_var = self(x, training=True)
            recon = tf.reduce_mean(tf.reduce_sum((x - y) ** 2, axis=[1, 2, 3]))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - mean ** 2 - tf.exp(log_var), axis=1))
            total = recon + self.kl_weight * kl
        grads = tape.gradient(total, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for name, value in (("total", total), ("recon", recon), ("kl", kl)):
            self.trackers[name].update_state(value)
        return {name: t.result() for name, t in self.trackers.items()}
