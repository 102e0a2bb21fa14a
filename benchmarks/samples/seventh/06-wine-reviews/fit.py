"""Learn the mark of a wine from its review."""
import argparse

import tensorflow as tf
from tensorflow.keras import layers

from wine import reviews, settings

POOL = {"avg": layers.GlobalAveragePooling1D, "max": layers.GlobalMaxPooling1D}


def build(m: settings.Model) -> tf.keras.Model:
    return tf.keras.Sequential([
        layers.Embedding(m.embed_rows, m.embed_dim),
        POOL[m.pooling](),
        layers.Dense(m.hidden, activation="relu"),
        layers.Dropout(m.dropout),
        layers.Dense(m.n_classes),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", default="wine.toml")
    args = parser.parse_args()
    conf = settings.read(args.settings)
    tf.keras.utils.set_random_seed(77)

    train, valid, vectorize, held_out = reviews.prepare(conf.text, conf.fit.batch_size)
    model = build(conf.model)
    model.compile(
        optimizer=tf.keras.optimizers.Nadam(conf.fit.learning_rate),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[tf.keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    stop = tf.keras.callbacks.EarlyStopping(monitor=conf.fit.stop.monitor,
                                            patience=conf.fit.stop.patience, mode="max")
    model.fit(train, validation_data=valid, epochs=conf.fit.epochs, callbacks=[stop], verbose=2)

    marks = []
    for text in held_out:
        ids = vectorize(tf.constant([text]))
        marks.append(int(model.predict(ids, verbose=0).argmax()))
    print("marks", marks[:10])


if __name__ == "__main__":
    main()
