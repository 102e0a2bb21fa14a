"""The step's number goes into the compiled step as a Python int, for a warm-up of the rate."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()


class Trainer:
    def __init__(self):
        self.seen = 0

    @tf.function
    def step(self, x, y, global_step):
        scale = min(1.0, global_step / 1000)
        with tf.GradientTape() as tape:
            loss = scale * tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    def run(self, data):
        for x, y in data:
            self.step(x, y, self.seen)
            self.seen += 1


Trainer().run(tf.data.Dataset.from_tensors((tf.ones([16, 8]), tf.ones([16, 1]))).repeat(500).prefetch(2))
