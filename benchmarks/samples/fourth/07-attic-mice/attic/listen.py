"""Hear whether a mouse is in the attic."""
import tensorflow as tf

import ears
from sheet import Sheet


def brain(part, shape):
    cell = tf.keras.layers.LSTM(part.cells, dropout=part.drop)
    if part.twoway:
        cell = tf.keras.layers.Bidirectional(cell)
    return tf.keras.Sequential([tf.keras.Input(shape), cell, tf.keras.layers.Dense(1, activation="sigmoid")])


def teach(model, x, y, plan):
    model.compile(tf.keras.optimizers.Adam(plan.speed), "binary_crossentropy", metrics=["accuracy"])
    helpers = []
    if plan.get("halve_after"):
        helpers.append(tf.keras.callbacks.ReduceLROnPlateau(
            monitor="val_loss", factor=0.5, patience=plan.halve_after, min_lr=plan.get("slowest", 0.0)))
    plan.group = max(8, len(x) // 4)
    return model.fit(x, y, epochs=plan.nights, batch_size=plan.group, callbacks=helpers, verbose=0)


def main():
    sheet = Sheet.read()
    tf.keras.utils.set_random_seed(9)
    x, y = ears.sounds(sheet.listen)
    log = teach(brain(sheet.brain, x.shape[1:]), x, y, sheet.teach)
    print(x.shape, "loss", log.history["loss"])


if __name__ == "__main__":
    main()
