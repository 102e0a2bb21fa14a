import sys

from tensorflow import keras

from kws.data import spectrograms
from kws.settings import Settings


def main(path="config/kws.yaml"):
    settings = Settings(path)
    keras.utils.set_random_seed(0)
    x, y = spectrograms(settings)
    model = keras.Sequential([
        keras.Input(x.shape[1:]),
        keras.layers.Conv1D(8, 3, activation="relu"),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(settings.n_labels, activation="softmax"),
    ])
    model.compile(settings.optimizer, "sparse_categorical_crossentropy")
    log = model.fit(x, y, **settings.loop, verbose=0)
    print(round(log.history["loss"][-1], 5))


if __name__ == "__main__":
    main(*sys.argv[1:])
