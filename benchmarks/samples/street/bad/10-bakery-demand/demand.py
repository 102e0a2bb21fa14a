import time

import numpy as np
import tensorflow as tf

from config import Config


def history(n=6000, seed=6):
    rng = np.random.default_rng(seed)
    weekday = rng.integers(0, 7, n)
    temp = rng.normal(14, 8, n)
    holiday = rng.random(n) < 0.05
    promo = rng.random(n) < 0.15
    sold = 120 + 18 * (weekday >= 5) - 0.9 * temp + 40 * holiday + 25 * promo
    sold = sold + rng.normal(0, 6, n)
    x = np.column_stack([np.eye(7)[weekday], temp / 10.0, holiday, promo])
    return x.astype("float32"), (sold / 100.0).astype("float32")[:, None]


def build(cfg: Config, n_features: int) -> tf.keras.Model:
    inputs = tf.keras.Input((n_features,))
    x = inputs
    for _ in range(cfg.depth):
        x = tf.keras.layers.Dense(cfg.hidden, activation="relu")(x)
        x = tf.keras.layers.LayerNormalization()(x)
    outputs = tf.keras.layers.Dense(1)(x)
    model = tf.keras.Model(inputs, outputs)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(cfg.learning_rate),
        loss="mse",
        metrics=["mae"],
        run_eagerly=cfg.debug,
    )
    return model


def baking_plan(model, days, waste_cost=0.4, lost_margin=1.1):
    """Loaves to bake per day: the estimate moved up by the usual newsvendor share."""
    estimate = 100 * model.predict(days, verbose=0).ravel()
    share = lost_margin / (lost_margin + waste_cost)
    spread = 6.0
    z = np.sqrt(2) * _erfinv(2 * share - 1)
    return np.ceil(estimate + spread * z).astype(int)


def _erfinv(v):
    a = 0.147
    log = np.log(1 - v * v)
    first = 2 / (np.pi * a) + log / 2
    return np.sign(v) * np.sqrt(np.sqrt(first * first - log / a) - first)


def by_weekday(days, sold, planned):
    weekday = days[:, :7].argmax(axis=1)
    for d, name in enumerate("Mon Tue Wed Thu Fri Sat Sun".split()):
        rows = weekday == d
        left = np.maximum(planned[rows] - sold[rows], 0).mean()
        short = np.maximum(sold[rows] - planned[rows], 0).mean()
        print(f"{name}: baked {planned[rows].mean():.0f}, left over {left:.1f}, short {short:.1f}")


def main(cfg: Config = Config()):
    tf.keras.utils.set_random_seed(6)
    x, y = history()
    cut = int(0.85 * len(x))
    model = build(cfg, x.shape[1])
    t0 = time.perf_counter()
    model.fit(
        x[:cut],
        y[:cut],
        validation_data=(x[cut:], y[cut:]),
        epochs=cfg.epochs,
        batch_size=cfg.batch_size,
        verbose=2,
    )
    print("fit took %.1f s" % (time.perf_counter() - t0))
    print("loaves off by %.1f" % (100 * model.evaluate(x[cut:], y[cut:], verbose=0)[1]))
    by_weekday(x[cut:], 100 * y[cut:, 0], baking_plan(model, x[cut:]))


if __name__ == "__main__":
    main()
