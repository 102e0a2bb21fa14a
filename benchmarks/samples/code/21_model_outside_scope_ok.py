import numpy as np
import tensorflow as tf


def build_model(width):
    return tf.keras.Sequential([
        tf.keras.Input((12,)),
        tf.keras.layers.Dense(width, activation="relu"),
        tf.keras.layers.Dense(1),
    ])


def main():
    strategy = tf.distribute.MirroredStrategy()
    print("replicas:", strategy.num_replicas_in_sync)
    batch = 32 * strategy.num_replicas_in_sync
    x = np.random.rand(512, 12).astype("float32")
    with strategy.scope():
        model = build_model(64)
        model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")
    model.fit(x, x[:, :1], batch_size=batch, epochs=2, verbose=2)


if __name__ == "__main__":
    main()
