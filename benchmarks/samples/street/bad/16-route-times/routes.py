import time

import numpy as np
import tensorflow as tf

from schedule import rate_for

ROUNDS = 12


def trips(n, seed):
    rng = np.random.default_rng(seed)
    km = rng.gamma(3.0, 2.4, n)
    stops = rng.integers(0, 9, n)
    rain = rng.random(n) < 0.3
    hour = rng.uniform(0, 24, n)
    rush = np.exp(-((hour - 8) ** 2) / 6) + np.exp(-((hour - 17) ** 2) / 6)
    minutes = 2.1 * km * (1 + 0.5 * rush) + 1.4 * stops + 3 * rain + rng.normal(0, 1, n)
    x = np.stack([km / 5, stops / 4, rain, np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12)], 1)
    return x.astype("float32"), (minutes[:, None] / 20).astype("float32")


def build():
    return tf.keras.Sequential(
        [
            tf.keras.Input((5,)),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )


def train(model, x, y, x_val, y_val):
    best = np.inf
    for round_no in range(ROUNDS):
        model.compile(
            optimizer=tf.keras.optimizers.Adam(rate_for(round_no)),
            loss="mse",
            metrics=["mae"],
        )
        model.fit(x, y, batch_size=128, epochs=1, verbose=0)
        val_loss, val_mae = model.evaluate(x_val, y_val, batch_size=512, verbose=0)
        best = min(best, val_mae)
        print(f"round {round_no:2d}  rate {rate_for(round_no):.4f}  val mae {20 * val_mae:.2f} min")
    return best


def main():
    tf.keras.utils.set_random_seed(16)
    x, y = trips(6000, 1)
    x_val, y_val = trips(1000, 2)
    model = build()
    start = time.perf_counter()
    best = train(model, x, y, x_val, y_val)
    print(f"best {20 * best:.2f} min, {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
