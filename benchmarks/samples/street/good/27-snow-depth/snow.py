import numpy as np
import tensorflow as tf

from options import read_options


def stations(n, seed):
    rng = np.random.default_rng(seed)
    height = rng.uniform(300, 2800, n)
    temp = 6 - 0.0062 * height + rng.normal(0, 3, n)
    precip = rng.gamma(2.0, 14.0, n)
    aspect = rng.uniform(0, 2 * np.pi, n)
    wind = rng.gamma(2.0, 3.0, n)
    depth = np.maximum(0, 4 - temp) * precip * 0.09 * (1 + 0.35 * np.cos(aspect)) - 0.4 * wind
    depth = np.maximum(depth + rng.normal(0, 1.5, n), 0)
    x = np.stack([height / 1000, temp, precip / 20, np.cos(aspect), np.sin(aspect), wind / 5], 1)
    return x.astype("float32"), (depth / 20).astype("float32")[:, None]


def make_optimizer(opts, steps_per_epoch):
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(
        initial_learning_rate=opts["initial_rate"],
        decay_steps=opts["decay_every_epochs"] * steps_per_epoch,
        decay_rate=opts["decay_rate"],
        staircase=True,
    )
    return tf.keras.optimizers.Adam(schedule)


def build():
    return tf.keras.Sequential(
        [
            tf.keras.Input((6,)),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(27)
    opts = read_options()
    x, y = stations(3200, 1)
    x_val, y_val = stations(600, 2)
    mean, std = x.mean(axis=0), x.std(axis=0)
    x, x_val = (x - mean) / std, (x_val - mean) / std

    model = build()
    steps = -(-len(x) // opts["batch_size"])
    model.compile(optimizer=make_optimizer(opts, steps), loss="mse", metrics=["mae"])
    history = model.fit(
        x,
        y,
        validation_data=(x_val, y_val),
        epochs=opts["epochs"],
        batch_size=opts["batch_size"],
        verbose=0,
    )
    for epoch in range(0, opts["epochs"], 4):
        print(epoch, "val mae in cm: %.2f" % (20 * history.history["val_mae"][epoch]))
    print("last val mae in cm: %.2f" % (20 * history.history["val_mae"][-1]))
    print("last rate:", float(model.optimizer.learning_rate))


if __name__ == "__main__":
    main()
