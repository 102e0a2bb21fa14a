import tensorflow as tf

import config
from images import load


def blur_net():
    return tf.keras.Sequential(
        [
            tf.keras.Input((*config.IMAGE_SIZE, config.CHANNELS)),
            tf.keras.layers.Conv2D(12, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(4),
            tf.keras.layers.Conv2D(12, 3, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(16, activation="relu"),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(34)
    train = load(800, 1, config.IMAGE_SIZE, training=True)
    val = load(200, 2, config.VALIDATION_SIZE, training=False)
    model = blur_net()
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(train, epochs=config.EPOCHS, verbose=2)
    print(model.evaluate(val, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
