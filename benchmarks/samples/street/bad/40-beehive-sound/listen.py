import tensorflow as tf

from hives import BINS, splits


def classifier():
    return tf.keras.Sequential(
        [
            tf.keras.Input((BINS,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(40)
    train, val = splits()
    model = classifier()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    history = model.fit(train, validation_data=val, epochs=30, verbose=0)
    for epoch in (0, 9, 19, 29):
        print(
            epoch,
            "train %.3f" % history.history["accuracy"][epoch],
            "val %.3f" % history.history["val_accuracy"][epoch],
        )


if __name__ == "__main__":
    main()
