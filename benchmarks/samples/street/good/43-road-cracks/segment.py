import tensorflow as tf
from tensorflow.keras import layers

from folders import SIDE, pairs, write_pairs


def segmenter():
    inputs = tf.keras.Input((SIDE, SIDE, 1))
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(inputs)
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    return tf.keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))


def main():
    tf.keras.utils.set_random_seed(43)
    train = pairs(write_pairs("cracks/train", 300, 1), 16, training=True)
    val = pairs(write_pairs("cracks/val", 60, 2), 16, training=False)
    model = segmenter()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(3e-3),
        loss="binary_crossentropy",
        metrics=[tf.keras.metrics.BinaryIoU(target_class_ids=[1], name="iou")],
    )
    model.fit(train, validation_data=val, epochs=5, verbose=2)


if __name__ == "__main__":
    main()
