import numpy as np
import keras
from keras import layers

from corpus import recipes
from vocab import Vocabulary

LENGTH = 16


def build_tagger(vocab_size, dim=12):
    model = keras.Sequential(
        [
            keras.Input((LENGTH,), dtype="int32"),
            layers.Embedding(vocab_size, dim, mask_zero=True),
            layers.LSTM(16),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(5e-3),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    keras.utils.set_random_seed(2)
    lines, tags = recipes()
    vocab = Vocabulary().fit(lines)
    x = vocab.encode(lines, LENGTH)
    y = np.asarray(tags, dtype="float32")
    model = build_tagger(vocab.size)
    history = model.fit(
        x[:240], y[:240], validation_data=(x[240:], y[240:]),
        epochs=5, batch_size=24, verbose=2,
    )
    print("words", vocab.size, "val acc", history.history["val_accuracy"][-1])


if __name__ == "__main__":
    main()
