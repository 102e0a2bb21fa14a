import numpy as np
import tensorflow as tf

from vae import GlyphVae

SIDE = 12


def glyphs(n, seed):
    rng = np.random.default_rng(seed)
    x = np.zeros((n, SIDE, SIDE), "float32")
    for i in range(n):
        r, c = rng.integers(0, 7, 2)
        if rng.integers(2):
            x[i, r:r + 5, c:c + 5] = 1
        else:
            x[i, r:r + 2, :] = 1
    return x.reshape(n, -1)


tf.keras.utils.set_random_seed(15)
x = glyphs(1000, 1)
ds = tf.data.Dataset.from_tensor_slices(x).shuffle(1000).batch(50).prefetch(2)
model = GlyphVae(SIDE * SIDE)
model.compile(optimizer=tf.keras.optimizers.Adam(3e-3))
history = model.fit(ds, epochs=20, verbose=0)
print("per-pixel reconstruction", round(float(history.history["recon"][-1]), 4))
print("kl per glyph", round(float(history.history["kl"][-1]), 4))

probe = glyphs(200, 2)
logits, _, _ = model(probe, training=False)
print("pixels wrong", round(float(np.mean((logits.numpy() > 0) != (probe > 0.5))), 4),
      "ink share", round(float(probe.mean()), 4))
