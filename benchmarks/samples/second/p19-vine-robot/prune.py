import numpy as np
from tensorflow import keras

from vine import parts, plan


def main():
    for run in plan.experiments():
        keras.utils.set_random_seed(run.seed)
        rng = np.random.default_rng(run.seed)
        x = parts.augment(rng.random((24, 12, 12, 1), dtype="float32"), run, rng)
        y = rng.integers(0, 3, 24)
        net = keras.Sequential([
            keras.Input((12, 12, 1)),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(3, activation="softmax"),
        ])
        net.compile(getattr(parts.Optimizers, run.optimizer)(run), "sparse_categorical_crossentropy")
        log = net.fit(x, y, batch_size=run.batch, epochs=run.epochs, callbacks=parts.callbacks(run), verbose=0)
        print(run.name, log.history["loss"])


if __name__ == "__main__":
    main()
