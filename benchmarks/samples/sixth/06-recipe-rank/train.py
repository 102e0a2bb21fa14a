import os

import numpy as np
import tensorflow as tf

import settings as S
from towers import build_ranker


def events():
    rng = np.random.default_rng(S.DATA["seed"])
    n = S.DATA["n_events"]
    users = rng.integers(0, S.DATA["n_users"], n)
    recipes = rng.integers(0, S.DATA["n_recipes"], n)
    liked = ((users + recipes) % 2).astype("float32")
    return tf.data.Dataset.from_tensor_slices(((users, recipes), liked))


def main():
    tf.keras.utils.set_random_seed(S.DATA["seed"])
    ds = events().shuffle(S.DATA["n_events"], seed=1).batch(S.DATA["batch_size"])
    model = build_ranker(S.DATA["n_users"], S.DATA["n_recipes"], S.MODEL)
    optimizer = tf.keras.optimizers.get(
        {"class_name": S.TRAIN["optimizer"], "config": {"learning_rate": S.TRAIN["lr"]}})
    model.compile(optimizer, S.TRAIN["loss"])
    os.makedirs(os.path.dirname(S.CHECKPOINT), exist_ok=True)
    saver = tf.keras.callbacks.ModelCheckpoint(S.CHECKPOINT, monitor="loss", save_best_only=True, save_weights_only=True)
    history = model.fit(ds, epochs=S.TRAIN["epochs"], callbacks=[saver], verbose=0)
    print("loss", history.history["loss"][-1])


if __name__ == "__main__":
    main()
