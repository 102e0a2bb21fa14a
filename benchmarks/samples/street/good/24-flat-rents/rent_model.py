"""Rent estimate with a pinball loss, so that the printed figure is a cautious one."""
import numpy as np
import tensorflow as tf

from compare import LeastSquares, error_table
from flats import FIELDS, listings

QUANTILE = 0.4


def pinball(y_true, y_pred, q=QUANTILE):
    err = y_true - y_pred
    return tf.reduce_mean(tf.maximum(q * err, (q - 1.0) * err))


def build():
    return tf.keras.Sequential(
        [
            tf.keras.Input((len(FIELDS),)),
            tf.keras.layers.Dense(48, activation="relu"),
            tf.keras.layers.Dense(48, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )


model = build()
optimizer = tf.keras.optimizers.Adam(3e-3)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = pinball(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    tf.keras.utils.set_random_seed(24)
    x, rent = listings(4000, 1)
    x_test, rent_test = listings(800, 2)
    mean, std = x.mean(axis=0), x.std(axis=0)
    r_mean, r_std = rent.mean(), rent.std()

    data = tf.data.Dataset.from_tensor_slices(((x - mean) / std, (rent - r_mean) / r_std))
    data = data.shuffle(4000, seed=24).batch(64).prefetch(tf.data.AUTOTUNE)

    for epoch in range(15):
        running = tf.keras.metrics.Mean()
        for xb, yb in data:
            running.update_state(train_step(xb, yb))
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} pinball {float(running.result()):.4f}")

    guess = model.predict((x_test - mean) / std, verbose=0) * r_std + r_mean
    print("spread of the rents %.0f, spread of the estimates %.0f" % (rent_test.std(), guess.std()))
    print("mean error %.0f" % np.abs(guess - rent_test).mean())
    plain = LeastSquares().fit(x, rent).predict(x_test)
    print(error_table(x_test[:, 0], rent_test, {"network": guess, "plain": plain}))


if __name__ == "__main__":
    main()
