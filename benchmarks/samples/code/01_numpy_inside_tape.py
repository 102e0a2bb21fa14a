"""Fit a line through noisy points with a hand made loop."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
xs = rng.uniform(-1, 1, (200, 1)).astype("float32")
ys = 3 * xs - 1 + rng.normal(0, 0.1, (200, 1)).astype("float32")

net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
sgd = tf.keras.optimizers.SGD(0.1)

for epoch in range(20):
    with tf.GradientTape() as tape:
        guess = net(xs, training=True)
        error = np.mean((guess.numpy() - ys) ** 2)
        loss = tf.convert_to_tensor(error)
    grads = tape.gradient(loss, net.trainable_variables)
    sgd.apply_gradients(zip(grads, net.trainable_variables))
    print(epoch, float(loss))
