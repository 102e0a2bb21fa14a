import time

import numpy as np
import tensorflow as tf

from settings import Settings, setup


def pump_signal(n=1600, seed=13):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    level = np.sin(t / 12.0) + 0.4 * np.sin(t / 31.0) + rng.normal(0, 0.05, n)
    return level.astype("float32")


def windows(series, cfg, shuffle):
    return tf.keras.utils.timeseries_dataset_from_array(
        series[:-cfg.window, None], series[cfg.window:, None],
        sequence_length=cfg.window, batch_size=cfg.batch_size, shuffle=shuffle,
        seed=cfg.seed).prefetch(tf.data.AUTOTUNE)


def build(cfg):
    inputs = tf.keras.Input((cfg.window, 1))
    x = tf.keras.layers.Conv1D(16, 3, activation="relu", padding="causal")(inputs)
    x = tf.keras.layers.Conv1D(16, 3, activation="relu", padding="causal")(x)
    x = tf.keras.layers.Flatten()(x)
    outputs = tf.keras.layers.Dense(1)(x)
    model = tf.keras.Model(inputs, outputs)
    model.compile(tf.keras.optimizers.Adam(cfg.learning_rate), "mse", metrics=["mae"])
    return model


def main():
    cfg = setup(Settings())
    series = pump_signal()
    cut = int(len(series) * 0.8)
    train_ds = windows(series[:cut], cfg, shuffle=True)
    val_ds = windows(series[cut:], cfg, shuffle=False)
    model = build(cfg)
    start = time.time()
    history = model.fit(train_ds, validation_data=val_ds, epochs=cfg.epochs, verbose=0)
    print(f"val mae {history.history['val_mae'][-1]:.4f} in {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
