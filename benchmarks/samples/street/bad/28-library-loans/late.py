import tensorflow as tf

from loans import catalogue, encode


class LateReturns:
    def __init__(self, n_features):
        self.net = tf.keras.Sequential(
            [
                tf.keras.Input((n_features,)),
                tf.keras.layers.Dense(32, activation="relu"),
                tf.keras.layers.Dense(16, activation="relu"),
                tf.keras.layers.Dense(1, activation="sigmoid"),
            ]
        )
        self.net.compile(
            optimizer="adam",
            loss="binary_crossentropy",
            metrics=["accuracy"],
        )

    def fit(self, x, y, x_val, y_val, epochs=8):
        stop = tf.keras.callbacks.EarlyStopping(
            monitor="val_loss", patience=3, restore_best_weights=True
        )
        return self.net.fit(
            x,
            y,
            validation_data=(x_val, y_val),
            epochs=epochs,
            batch_size=64,
            callbacks=[stop],
            verbose=2,
        )


def main():
    tf.keras.utils.set_random_seed(28)
    table, y = catalogue(2500, 1)
    val_table, y_val = catalogue(500, 2)
    x, x_val = encode(table), encode(val_table)
    print("features", x.shape)
    LateReturns(x.shape[1]).fit(x, y, x_val, y_val)


if __name__ == "__main__":
    main()
