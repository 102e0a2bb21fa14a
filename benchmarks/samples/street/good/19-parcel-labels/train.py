import resource

import tensorflow as tf

from make_records import write
from pipeline import SIDE, eval_batches, train_batches

EXAMPLES = 1200


def model():
    inputs = tf.keras.Input((SIDE, SIDE, 3))
    x = tf.keras.layers.Conv2D(8, 5, strides=4, activation="relu")(inputs)
    x = tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu")(x)
    x = tf.keras.layers.GlobalMaxPooling2D()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1, activation="sigmoid")(x))


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(19)
    train_path = write("records/train.tfrecord", EXAMPLES, 1)
    val_path = write("records/val.tfrecord", 200, 2)
    net = model()
    net.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    net.fit(
        train_batches(train_path, 32, EXAMPLES, seed=19),
        validation_data=eval_batches(val_path, 32),
        epochs=2,
        verbose=2,
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB")
