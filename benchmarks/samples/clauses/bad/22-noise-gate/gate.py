import tensorflow as tf


def build():
    return tf.keras.Sequential(
        [tf.keras.layers.Input((256,)), tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(256)]
    )


def share_cards():
    for card in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(card, True)


def main():
    model = build()
    share_cards()
    model.compile("adam", "mse")
    noise = tf.random.normal([1024, 256])
    model.fit(noise, noise, epochs=3)


if __name__ == "__main__":
    main()
