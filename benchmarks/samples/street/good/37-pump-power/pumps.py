import numpy as np
import tensorflow as tf

from scaling import ColumnScaler

COLUMNS = ["flow", "head", "speed", "temperature", "stages", "firmware"]


def log_rows(n, seed):
    rng = np.random.default_rng(seed)
    flow = rng.uniform(5, 60, n)
    head = rng.uniform(10, 90, n)
    speed = rng.normal(2900, 25, n)
    temperature = rng.normal(38, 6, n)
    stages = rng.integers(1, 4, n)
    firmware = np.full(n, 3)
    power = 9.81 * flow * head / 3600 / 0.62 + 0.02 * stages + rng.normal(0, 0.05, n)
    x = np.stack([flow, head, speed, temperature, stages, firmware], axis=1)
    return x.astype("float64"), power.astype("float32")[:, None]


def regressor():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((len(COLUMNS),)),
            tf.keras.layers.Dense(32, activation="tanh"),
            tf.keras.layers.Dense(32, activation="tanh"),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile(tf.keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
    return model


def main():
    tf.keras.utils.set_random_seed(37)
    x, y = log_rows(2000, 1)
    x_val, y_val = log_rows(400, 2)
    scaler = ColumnScaler()
    x = scaler.fit_transform(x)
    x_val = scaler.transform(x_val)
    model = regressor()
    model.fit(x, y, validation_data=(x_val, y_val), epochs=10, batch_size=32, verbose=2)
    print("kW off on average:", model.evaluate(x_val, y_val, verbose=0)[1])


if __name__ == "__main__":
    main()
