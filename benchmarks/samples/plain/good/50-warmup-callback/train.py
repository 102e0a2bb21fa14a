import numpy as np
import tensorflow as tf

from warmup import WarmupCosine

EPOCHS, BATCH = 6, 40

tf.keras.utils.set_random_seed(54)


def orders(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 5)).astype("float32")
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2]
    return x, y.astype("float32")[:, None]


x, y = orders(800, 1)
model = tf.keras.Sequential([
    tf.keras.Input((5,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")
steps = EPOCHS * (len(x) // BATCH)
warmup = WarmupCosine(peak=1e-2, warmup_steps=steps // 10, total_steps=steps)
model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, callbacks=[warmup], verbose=0)
print("peak rate", round(max(warmup.history), 5), "last rate", round(warmup.history[-1], 6))
print("test mse", round(model.evaluate(*orders(300, 2), verbose=0), 4))
