import numpy as np
import tensorflow as tf

from gan import LATENT, RingGan

tf.keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)


def ring(n):
    angle = rng.uniform(0, 2 * np.pi, n)
    points = 2.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return (points + rng.normal(0, 0.05, (n, 2))).astype("float32")


gan = RingGan()
batch = tf.constant(128)
for step in range(1500):
    d_loss = gan.train_discriminator(ring(128))
    g_loss = gan.train_generator(batch)
    if (step + 1) % 500 == 0:
        print(f"step {step + 1} d {float(d_loss):.3f} g {float(g_loss):.3f}")

samples = gan.generator(tf.random.normal([1000, LATENT]), training=False).numpy()
radius = np.linalg.norm(samples, axis=1)
print(f"mean distance to the ring {np.abs(radius - 2.0).mean():.3f}")
