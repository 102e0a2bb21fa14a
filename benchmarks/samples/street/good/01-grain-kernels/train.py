import argparse

import keras
from keras import layers

from data import VARIETIES, load_measurements, split


def build_classifier(n_features, width):
    model = keras.Sequential(
        [
            keras.Input(shape=(n_features,)),
            layers.Dense(width, activation="relu"),
            layers.Dropout(0.1),
            layers.Dense(width // 2, activation="relu"),
            layers.Dense(len(VARIETIES), activation="softmax"),
        ],
        name="kernel_sorter",
    )
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--width", type=int, default=48)
    args = parser.parse_args()

    keras.utils.set_random_seed(7)
    x, y = load_measurements()
    (x_train, y_train), (x_test, y_test) = split(x, y)

    mean, std = x_train.mean(axis=0), x_train.std(axis=0)
    x_train = (x_train - mean) / std
    x_test = (x_test - mean) / std

    model = build_classifier(x_train.shape[1], args.width)
    model.fit(
        x_train,
        y_train,
        validation_data=(x_test, y_test),
        epochs=args.epochs,
        batch_size=32,
        verbose=2,
    )
    loss, acc = model.evaluate(x_test, y_test, verbose=0)
    print(f"held-out loss {loss:.3f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
