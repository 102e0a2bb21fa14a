import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VARIETIES = 3


def pressings(n, seed):
    rng = np.random.default_rng(seed)
    variety = rng.integers(0, VARIETIES, n)
    x = rng.normal(size=(n, 8)) + np.eye(8)[variety] * 3.0
    yield_l = 0.6 + 0.05 * x[:, 4] - 0.04 * x[:, 5] + rng.normal(0, 0.02, n)
    return x.astype("float32"), variety.astype("int64"), yield_l.astype("float32")[:, None]


def two_headed():
    inputs = tf.keras.Input((8,), name="spectrum")
    x = layers.Dense(32, activation="relu")(inputs)
    x = layers.Dense(32, activation="relu")(x)
    variety = layers.Dense(VARIETIES, activation="softmax", name="variety")(x)
    juice = layers.Dense(1, name="juice")(x)
    return tf.keras.Model(inputs, [variety, juice], name="press")


def compile_model(model, rate=2e-3):
    model.compile(
        optimizer=tf.keras.optimizers.Adam(rate),
        loss={"variety": "sparse_categorical_crossentropy", "juice": "mse"},
        loss_weights={"variety": 1.0, "juice": 5.0},
        metrics=["accuracy"],
    )


def main():
    tf.keras.utils.set_random_seed(41)
    x, variety, juice = pressings(2000, 1)
    x_val, variety_val, juice_val = pressings(400, 2)
    model = two_headed()
    compile_model(model)
    model.fit(
        x,
        {"variety": variety, "juice": juice},
        validation_data=(x_val, {"variety": variety_val, "juice": juice_val}),
        epochs=6,
        batch_size=64,
        verbose=2,
    )
    report = model.evaluate(
        x_val, {"variety": variety_val, "juice": juice_val}, verbose=0, return_dict=True
    )
    for name, value in sorted(report.items()):
        print(f"{name:<24} {value:.4f}")


if __name__ == "__main__":
    main()
