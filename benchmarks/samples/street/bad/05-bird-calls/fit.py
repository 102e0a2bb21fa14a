import tensorflow as tf

from features import synth_spectrograms
from net import call_classifier

BATCH = 32


def to_dataset(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=5)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def run(epochs=6):
    tf.keras.utils.set_random_seed(5)
    train = to_dataset(*synth_spectrograms(1200, 1), training=True)
    val = to_dataset(*synth_spectrograms(300, 2), training=False)
    model = call_classifier()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    hist = model.fit(train, validation_data=val, epochs=epochs, verbose=2)
    print("final val accuracy %.3f" % hist.history["val_accuracy"][-1])
    return model


if __name__ == "__main__":
    run()
