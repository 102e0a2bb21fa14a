import argparse

import keras
from keras import layers

from data import SeedBatches, load


def parse_args():
    parser = argparse.ArgumentParser(description="Seed variety classifier")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--loaders", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-3)
    return parser.parse_args()


class VarietyTrainer:
    def __init__(self, args):
        self.args = args
        self.model = keras.Sequential(
            [
                keras.Input((20, 20, 1)),
                layers.Conv2D(8, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(16, 3, activation="relu"),
                layers.Flatten(),
                layers.Dense(4, activation="softmax"),
            ]
        )
        self.model.compile(
            optimizer=keras.optimizers.Adam(args.lr),
            loss="sparse_categorical_crossentropy",
            metrics=["accuracy"],
        )

    def fit(self, train, valid):
        options = dict(
            epochs=self.args.epochs,
            verbose=2,
        )
        return self.model.fit(train, validation_data=valid, **options)


def main():
    args = parse_args()
    keras.utils.set_random_seed(0)
    images, labels = load()
    train = SeedBatches(
        images[:256], labels[:256], args.batch_size, augment=True,
        workers=args.loaders, use_multiprocessing=False,
    )
    valid = SeedBatches(images[256:], labels[256:], args.batch_size)
    history = VarietyTrainer(args).fit(train, valid)
    print("final", history.history["val_accuracy"][-1])


if __name__ == "__main__":
    main()
