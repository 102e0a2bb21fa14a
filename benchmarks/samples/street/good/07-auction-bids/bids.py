"""Bid model with a hand-written loop: learning rate warms up over the first steps."""
import time

import numpy as np
import tensorflow as tf

N_FEATURES = 20
WARMUP = 60
BASE_LR = 0.02


def sample_auctions(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, N_FEATURES)).astype("float32")
    w = np.random.default_rng(77).normal(size=(N_FEATURES, 1))
    y = x @ w + 0.3 * rng.normal(size=(n, 1))
    return x, y.astype("float32")


class BidTrainer:
    def __init__(self):
        self.model = tf.keras.Sequential(
            [
                tf.keras.Input((N_FEATURES,)),
                tf.keras.layers.Dense(32, activation="relu"),
                tf.keras.layers.Dense(1),
            ]
        )
        self.optimizer = tf.keras.optimizers.SGD(BASE_LR)
        self.loss_fn = tf.keras.losses.MeanSquaredError()
        self.optimizer.build(self.model.trainable_variables)

    @tf.function
    def train_step(self, x, y, scale):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True))
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads = [g * scale for g in grads]
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def fit(self, dataset, epochs):
        step = 0
        for epoch in range(epochs):
            seen = tf.keras.metrics.Mean()
            for x, y in dataset:
                step += 1
                scale = tf.constant(min(1.0, step / WARMUP), tf.float32)
                seen.update_state(self.train_step(x, y, scale))
            print(f"epoch {epoch} mse {float(seen.result()):.4f}")


def main():
    tf.keras.utils.set_random_seed(2)
    x, y = sample_auctions(2560)
    data = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(2560, seed=2)
        .batch(64, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    trainer = BidTrainer()
    began = time.perf_counter()
    trainer.fit(data, epochs=3)
    print(f"{time.perf_counter() - began:.1f} s")
    print("graphs built:", trainer.train_step.experimental_get_tracing_count())


if __name__ == "__main__":
    main()
