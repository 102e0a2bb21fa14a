import numpy as np
import tensorflow as tf


def windows(series, length=24):
    rows = np.stack([series[i : i + length] for i in range(len(series) - length)])
    return rows.astype("float32"), series[length:].astype("float32")


def main():
    series = np.sin(np.arange(6000) / 40.0) + np.random.normal(0, 0.05, 6000)
    rows, targets = windows(series)
    data = tf.data.Dataset.from_tensor_slices((rows, targets)).shuffle(6000).batch(64)
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)]
    )
    optimizer = tf.keras.optimizers.Adam(1e-3)
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            guess = tf.squeeze(model(x, training=True), -1)
            loss = tf.reduce_mean(tf.abs(guess - y))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(20):
        total = tf.keras.metrics.Mean()
        for x, y in data:
            total.update_state(step(x, y))
        print(epoch, total.result().numpy())


if __name__ == "__main__":
    main()
