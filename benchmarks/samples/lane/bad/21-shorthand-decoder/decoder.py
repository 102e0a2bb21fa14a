import resource
import time

import keras
from keras import layers
from keras.utils import to_categorical

from notes import STEPS, WORDS, dictations


def build_decoder():
    strokes = keras.Input((STEPS,), dtype="int32")
    x = layers.Embedding(500, 32)(strokes)
    x = layers.GRU(32, return_sequences=True)(x)
    x = layers.Dense(WORDS, activation="softmax")(x)
    return keras.Model(strokes, x)


def main():
    keras.utils.set_random_seed(15)
    strokes, words = dictations()
    targets = to_categorical(words, num_classes=WORDS)
    print("targets", targets.shape, f"{targets.nbytes / 2 ** 20:.1f} MB")

    model = build_decoder()
    model.compile(
        optimizer=keras.optimizers.Adam(5e-3),
        loss="categorical_crossentropy",
        metrics=["accuracy"],
    )
    started = time.perf_counter()
    model.fit(strokes, targets, epochs=1, batch_size=16, verbose=2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2 ** 10
    print(f"{time.perf_counter() - started:.1f} s, peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
