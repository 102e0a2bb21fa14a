import numpy as np
import tensorflow as tf

from series import hourly_demand
from splitting import train_and_test

LOOKBACK = 48
HORIZON = 24


def mlp():
    return tf.keras.Sequential(
        [
            tf.keras.Input((LOOKBACK,)),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )


def persistence_error(part, std, last=24):
    """Error of the rule `tomorrow is like the last day`."""
    x, y = part
    return float(np.abs(x[:, -last:].mean(axis=1, keepdims=True) - y).mean() * std)


def largest_misses(model, part, std, how_many=5):
    x, y = part
    miss = np.abs(model.predict(x, verbose=0) - y).ravel() * std
    return [(int(i), float(miss[i])) for i in np.argsort(-miss)[:how_many]]


def main():
    tf.keras.utils.set_random_seed(49)
    train, test, std = train_and_test(hourly_demand(), LOOKBACK, HORIZON)
    model = mlp()
    model.compile(tf.keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
    model.fit(*train, epochs=40, batch_size=32, verbose=0)
    for name, part in (("train", train), ("test", test)):
        network = model.evaluate(*part, verbose=0)[1] * std
        print(f"{name}: network {network:.3f} MW, persistence {persistence_error(part, std):.3f} MW")
    for row, miss in largest_misses(model, test, std):
        print(f"window {row}: off by {miss:.2f} MW")


if __name__ == "__main__":
    main()
