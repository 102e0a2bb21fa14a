"""Stroke-by-stroke force prediction of a stamping press (state carried between batches)."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH = 32
STEPS = 10
SIGNALS = 3


def strokes(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n * STEPS)
    drift = np.cumsum(rng.normal(0, 0.02, n * STEPS))
    force = np.sin(2 * np.pi * t / STEPS) + drift
    temp = 0.5 * np.cos(2 * np.pi * t / (STEPS * 40)) + rng.normal(0, 0.05, n * STEPS)
    speed = rng.normal(0, 0.2, n * STEPS)
    x = np.stack([force, temp, speed], axis=1).reshape(n, STEPS, SIGNALS)
    target = x[1:, :, 0].max(axis=1, keepdims=True)
    return x[:-1].astype("float32"), target.astype("float32")


def carry_model():
    return tf.keras.Sequential(
        [
            layers.Input(batch_shape=(BATCH, STEPS, SIGNALS)),
            layers.LSTM(24, stateful=True, name="carry"),
            layers.Dense(16, activation="relu"),
            layers.Dense(1),
        ]
    )


class ResetStates(tf.keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        for layer in self.model.layers:
            if getattr(layer, "stateful", False):
                layer.reset_states()


def main():
    tf.keras.utils.set_random_seed(44)
    x, y = strokes(1001, 1)
    whole = len(x) // BATCH * BATCH
    x, y = x[:whole], y[:whole]
    model = carry_model()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(
        x,
        y,
        batch_size=BATCH,
        epochs=3,
        shuffle=False,
        callbacks=[ResetStates()],
        verbose=2,
    )


if __name__ == "__main__":
    main()
