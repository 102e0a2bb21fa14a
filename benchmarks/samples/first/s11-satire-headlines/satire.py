"""Satire or news?"""
import numpy as np
import ruamel.yaml
import tensorflow as tf
from tensorflow import keras

from defaults import DEFAULTS, merge

HEADLINES = ["man bites dog again", "parliament votes on budget", "cat elected mayor of village"] * 8
LABELS = np.array([1, 0, 1] * 8, "float32")


def load(path):
    with open(path) as stream:
        return merge(DEFAULTS, ruamel.yaml.YAML(typ="safe").load(stream))


def build(cfg, vectorizer):
    pool = {"max": keras.layers.GlobalMaxPooling1D, "avg": keras.layers.GlobalAveragePooling1D}
    return keras.Sequential([
        keras.layers.Embedding(vectorizer.vocabulary_size(), cfg["embed"]),
        pool[cfg["pool"]](),
        keras.layers.Dropout(cfg["dropout"]),
        keras.layers.Dense(1, activation="sigmoid"),
    ])


def main():
    cfg = load("headlines.yaml")
    train = cfg["train"]
    keras.utils.set_random_seed(8)
    vectorizer = keras.layers.TextVectorization(**cfg["vectorizer"])
    vectorizer.adapt(HEADLINES)
    tokens = vectorizer(tf.constant(HEADLINES)).numpy()
    model = build(cfg["model"], vectorizer)
    model.compile(train["optimizer"], "binary_crossentropy", metrics=["accuracy"])
    log = model.fit(tokens, LABELS, batch_size=train["batch_size"], epochs=train["epochs"], verbose=0,
                    steps_per_epoch=train.get("steps_per_epoch"))
    print(model.layers[2].rate, len(log.history["loss"]), log.history["loss"][-1])


if __name__ == "__main__":
    main()
