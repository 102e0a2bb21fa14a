"""Reads the loss after each step of a CPU that computes: what the reading waits for is the computing."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1200, "relu"), tf.keras.layers.Dense(1200, "relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


total = 0.0
for x, y in tf.data.Dataset.from_tensors((tf.ones([64, 100]), tf.ones([64, 1]))).repeat(400).prefetch(2):
    total += float(step(x, y))
