import sys

import keras

from coins import KINDS, coin_images
from model import CoinNet


def main(epochs=5):
    keras.utils.set_random_seed(21)
    x_train, y_train = coin_images(600, seed=1)
    x_test, y_test = coin_images(200, seed=2)

    net = CoinNet(KINDS)
    net.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["sparse_categorical_accuracy"],
    )
    stop = keras.callbacks.EarlyStopping(
        monitor="val_loss", patience=3, restore_best_weights=True
    )
    net.fit(
        x_train,
        y_train,
        epochs=epochs,
        batch_size=30,
        validation_data=(x_test, y_test),
        callbacks=[stop],
        verbose=2,
    )
    loss, acc = net.evaluate(x_test, y_test, verbose=0)
    print(f"test loss {loss:.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
