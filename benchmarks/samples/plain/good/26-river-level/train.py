import argparse

import numpy as np
import tensorflow as tf

from series import river_level, window_dataset


def build(window):
    return tf.keras.Sequential([
        tf.keras.Input((window, 1)),
        tf.keras.layers.Conv1D(16, 5, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ])


def next_value_error(model, series, window):
    windows = np.lib.stride_tricks.sliding_window_view(series, window)[:-1]
    forecast = model.predict(windows[..., None], verbose=0).ravel()
    return float(np.abs(forecast - series[window:]).mean())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--window", type=int, default=24)
    p.add_argument("--epochs", type=int, default=8)
    args = p.parse_args()
    tf.keras.utils.set_random_seed(3)

    series = river_level()
    train, val = series[:1000], series[1000:1250]
    test = series[1250:]
    model = build(args.window)
    model.compile(tf.keras.optimizers.Adam(3e-3), "mse", metrics=["mae"])
    history = model.fit(
        window_dataset(train, args.window, 32, shuffle=True),
        validation_data=window_dataset(val, args.window, 64, shuffle=False),
        epochs=args.epochs, verbose=0)
    print("val mae", round(history.history["val_mae"][-1], 4))
    print("mae of the next hour's level", round(next_value_error(model, test, args.window), 4))


if __name__ == "__main__":
    main()
