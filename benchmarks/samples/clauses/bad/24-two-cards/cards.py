import tensorflow as tf


def build():
    inputs = tf.keras.Input((28, 28, 1))
    x = tf.keras.layers.Conv2D(32, 3, activation="relu")(inputs)
    x = tf.keras.layers.Flatten()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(10, activation="softmax")(x))


def main():
    strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
    model = build()
    with strategy.scope():
        model.compile(
            optimizer=tf.keras.optimizers.Adam(),
            loss="sparse_categorical_crossentropy",
        )
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    model.fit(x[..., None] / 255.0, y, epochs=3, batch_size=256)


if __name__ == "__main__":
    main()
