"""From batch 58 on a level is negative, and the layer `loudness` takes its root; a subclassed model in a loop."""

import tensorflow as tf


class Loudness(tf.keras.layers.Layer):
    def call(self, x):
        return tf.sqrt(x)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.loudness = Loudness(name="loudness")
        self.out = tf.keras.layers.Dense(1, name="out")

    def call(self, x):
        return self.out(self.loudness(x))


net = Net()
optimizer = tf.keras.optimizers.Adam()


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return {"total": loss, "weights": tf.linalg.global_norm(net.trainable_variables)}


def level(n):
    return tf.fill([8, 6], tf.where(n < 57, 1.0, -1.0)), tf.ones([8, 1])


for epoch in range(2):
    for x, y in tf.data.Dataset.range(150).map(level).prefetch(2):
        train(x, y)
