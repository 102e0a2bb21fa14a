import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

from vocab import WordIndex

LENGTH = 8
TAGS = ["soup", "cake", "salad"]
WORDS = {
    0: "lentil broth leek stock simmered warm noodle".split(),
    1: "chocolate sponge icing layered vanilla sweet crumb".split(),
    2: "rocket dressing chopped feta lemon crisp radish".split(),
}
FILLER = "easy my best quick family sunday with and the".split()


def titles(n, seed):
    rng = np.random.default_rng(seed)
    tags = rng.integers(0, len(TAGS), n)
    rows = []
    for tag in tags:
        words = list(rng.choice(WORDS[tag], 3)) + list(rng.choice(FILLER, 3))
        rng.shuffle(words)
        rows.append(" ".join(words))
    return rows, tags.astype("int32")


def build_model(words: WordIndex):
    return tf.keras.Sequential(
        [
            layers.Input((LENGTH,), dtype="int32"),
            layers.Embedding(input_dim=words.size, output_dim=16),
            layers.GlobalAveragePooling1D(),
            layers.Dense(16, activation="relu"),
            layers.Dense(len(TAGS), activation="softmax"),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(9)
    train_titles, train_tags = titles(1500, 1)
    val_titles, val_tags = titles(300, 2)
    words = WordIndex().fit(train_titles)
    model = build_model(words)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(
        words.encode(train_titles, LENGTH),
        train_tags,
        validation_data=(words.encode(val_titles, LENGTH), val_tags),
        epochs=5,
        batch_size=32,
        verbose=2,
    )


if __name__ == "__main__":
    main()
