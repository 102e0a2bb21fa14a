"""Tag recipes: one recipe can carry several tags."""
import pathlib

import tensorflow as tf

import pipeline
import settings as S


def build():
    model = tf.keras.Sequential([
        tf.keras.Input((S.MAX_LEN,), dtype="int32"),
        tf.keras.layers.Embedding(S.VOCAB_SIZE, S.EMBED_DIM),
        tf.keras.layers.GlobalAveragePooling1D(),
    ])
    for n in S.HIDDEN:
        model.add(tf.keras.layers.Dense(n, activation="relu"))
    model.add(tf.keras.layers.Dense(len(S.TAGS), activation=S.HEAD_ACTIVATION, dtype="float32"))
    return model


def main():
    tf.keras.utils.set_random_seed(S.SEED)
    model = build()
    optimizer = tf.keras.optimizers.get(S.OPTIMIZER)
    optimizer.learning_rate = S.LEARNING_RATE
    if S.MIXED_PRECISION:
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    model.compile(optimizer, S.LOSS, metrics=S.METRICS)
    log = model.fit(pipeline.dataset(), epochs=S.EPOCHS, verbose=0)
    print({name: round(values[-1], 5) for name, values in log.history.items()})
    folder = pathlib.Path(S.EXPORT_DIR)
    folder.mkdir(exist_ok=True)
    model.save(folder / "recipes.keras")


if __name__ == "__main__":
    main()
