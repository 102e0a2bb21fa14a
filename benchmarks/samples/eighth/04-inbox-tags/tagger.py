"""A small convolutional tagger for short mails."""
import tomllib
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

from mail import read_mails

SETTINGS = tomllib.loads(Path("settings.toml").read_text())


def make_vectorizer(mails):
    vectorizer = layers.TextVectorization(**SETTINGS["text"])
    vectorizer.adapt(mails)
    return vectorizer


def make_model(vectorizer):
    head = SETTINGS["head"]
    return tf.keras.Sequential([
        tf.keras.Input((SETTINGS["text"]["output_sequence_length"],), dtype="int32"),
        layers.Embedding(**SETTINGS["embedding"]),
        layers.Conv1D(**SETTINGS["conv"]),
        layers.GlobalMaxPooling1D(),
        layers.Dropout(head["dropout"]),
        layers.Dense(len(head["tags"]), activation="softmax"),
    ])


def run():
    fit = SETTINGS["fit"]
    tf.keras.utils.set_random_seed(SETTINGS["seed"])
    mails, labels = read_mails(SETTINGS["head"]["tags"])
    vectorizer = make_vectorizer(mails)
    x, y = vectorizer(mails).numpy(), np.array(labels)

    model = make_model(vectorizer)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(fit["learning_rate"]),
        loss=SETTINGS["head"]["loss"],
        metrics=["accuracy"],
    )
    history = model.fit(
        x, y,
        batch_size=fit["batch_size"],
        epochs=fit["epochs"],
        class_weight=fit["class_weight"],
        verbose=0,
    )
    print(SETTINGS["title"], "loss %.5f" % history.history["loss"][-1])


if __name__ == "__main__":
    run()
