"""Forecast next hour of water level; sensors drop out, so train with jitter and gaps."""
import random
import numpy as np
import tensorflow as tf

WIN = 48
random.seed(0)
tf.keras.utils.set_random_seed(0)


def series(n=6000):
    t = np.arange(n)
    rng = np.random.default_rng(0)
    return (np.sin(t / 12.4) + 0.3 * np.sin(t / 6.1) + 0.05 * rng.normal(size=n)).astype("float32")


level = series()
ds = tf.keras.utils.timeseries_dataset_from_array(level[:-WIN], level[WIN:], WIN, batch_size=64, shuffle=True, seed=3)

model = tf.keras.Sequential([
    tf.keras.Input((WIN, 1)),
    tf.keras.layers.Conv1D(16, 5, strides=2, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(1),
])
opt = tf.keras.optimizers.Adam(1e-3)
loss_fn = tf.keras.losses.Huber()
gaps = []


@tf.function
def step(x, y):
    x = x[..., None]
    x = x + tf.random.normal(tf.shape(x), stddev=0.02)
    start = random.randint(0, WIN - 8)
    keep = tf.concat([tf.ones(start), tf.zeros(8), tf.ones(WIN - 8 - start)], 0)
    x = x * keep[None, :, None]
    with tf.GradientTape() as tape:
        loss = loss_fn(y[:, None], model(x, training=True))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss, start


for epoch in range(3):
    losses = []
    for x, y in ds:
        l, s = step(x, y)
        losses.append(float(l))
        gaps.append(int(s))
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")
print("gap starts:", len(gaps), "steps,", len(set(gaps)), "different")
