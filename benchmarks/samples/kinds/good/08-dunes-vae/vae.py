import numpy as np
import tensorflow as tf

LATENT = 4
WARMUP = 200


class KLWarmupVAE(tf.keras.Model):
    def __init__(self, dim, **kw):
        super().__init__(**kw)
        self.enc = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"),
                                        tf.keras.layers.Dense(2 * LATENT)])
        self.dec = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"),
                                        tf.keras.layers.Dense(dim)])
        self.seen = tf.Variable(0, trainable=False, dtype=tf.int64)
        self.beta_tracker = tf.keras.metrics.Mean(name="beta")
        self.rec_tracker = tf.keras.metrics.Mean(name="rec")
        self.kl_tracker = tf.keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.beta_tracker, self.rec_tracker, self.kl_tracker]

    def call(self, x):
        mean, logvar = tf.split(self.enc(x), 2, axis=1)
        return self.dec(mean)

    def train_step(self, x):
        self.seen.assign_add(1)
        beta = tf.minimum(1.0, tf.cast(self.seen, tf.float32) / WARMUP)
        with tf.GradientTape() as tape:
            mean, logvar = tf.split(self.enc(x, training=True), 2, axis=1)
            z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
            rec = tf.reduce_mean(tf.reduce_sum(tf.square(self.dec(z, training=True) - x), 1))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), 1))
            loss = rec + beta * kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.beta_tracker.update_state(beta)
        self.rec_tracker.update_state(rec)
        self.kl_tracker.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


def dune_profiles(n=2000, dim=24, seed=0):
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    freq = rng.uniform(0.5, 1.5, (n, 1))
    x = np.sin(freq * np.linspace(0, 6, dim)[None] + phase) + 0.05 * rng.normal(size=(n, dim))
    return x.astype("float32")


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(1)
    x = dune_profiles()
    vae = KLWarmupVAE(x.shape[1])
    vae.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
    hist = vae.fit(tf.data.Dataset.from_tensor_slices(x).shuffle(2000).batch(40), epochs=6, verbose=2)
    print("beta per epoch", np.round(hist.history["beta"], 3))
    print("kl per epoch", np.round(hist.history["kl"], 3))
