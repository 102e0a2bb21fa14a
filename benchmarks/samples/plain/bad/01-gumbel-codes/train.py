import math
import time

import numpy as np
import tensorflow as tf

from model import CodeAutoencoder

STEPS = 60
T_START, T_END = 2.0, 0.4

tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
basis = rng.normal(size=(6, 24)).astype("float32")
data = rng.integers(0, 2, size=(1024, 6)).astype("float32") @ basis

ds = tf.data.Dataset.from_tensor_slices(data).shuffle(1024).repeat().batch(64)
ds = ds.prefetch(tf.data.AUTOTUNE)

model = CodeAutoencoder(features=24)
optimizer = tf.keras.optimizers.Adam(3e-3)
mean_loss = tf.keras.metrics.Mean()


@tf.function
def train_step(x, temperature):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x - model(x, temperature=temperature)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    mean_loss.update_state(loss)


def temperature_at(step):
    rate = math.log(T_START / T_END) / STEPS
    return max(T_END, T_START * math.exp(-rate * step))


start = time.time()
for step, batch in enumerate(ds.take(STEPS)):
    train_step(batch, temperature_at(step))
    if (step + 1) % 20 == 0:
        print(f"step {step + 1} loss {float(mean_loss.result()):.4f}")
        mean_loss.reset_state()
print(f"{time.time() - start:.1f}s, {train_step.experimental_get_tracing_count()} graphs")
