import numpy as np
import tensorflow as tf

from siamese import triplet

rng = np.random.default_rng(6)
anchor = rng.random((120, 8), dtype=np.float32)
positive = anchor + rng.normal(scale=0.05, size=anchor.shape).astype("float32")
positive[::10] = anchor[::10]
negative = rng.random((120, 8), dtype=np.float32)

tower = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(16, "tanh"), tf.keras.layers.Dense(4)])
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function
def step(a, p, n):
    with tf.GradientTape() as tape:
        loss = triplet(tower(a, training=True), tower(p, training=True), tower(n, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, tower.trainable_weights), tower.trainable_weights))
    return loss


for a, p, n in tf.data.Dataset.from_tensor_slices((anchor, positive, negative)).shuffle(120).repeat(2).batch(40):
    print(float(step(a, p, n)))
