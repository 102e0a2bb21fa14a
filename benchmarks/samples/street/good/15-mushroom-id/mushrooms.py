import numpy as np
import tensorflow as tf

from report import print_report

NAMES = ["boletus", "amanita", "russula", "coprinus"]
SIZE = 20
BATCH = 32


def pictures(n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, len(NAMES), n)
    img = rng.random((n, SIZE, SIZE, 3)) * 0.5
    for i, k in enumerate(label):
        img[i, 4 : 8 + 3 * k, 4:16, k % 3] += 0.4
    return img.clip(0, 1).astype("float32"), label.astype("int64")


def make_dataset(images, labels):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.shuffle(buffer_size=len(labels), seed=15)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def build():
    return tf.keras.Sequential(
        [
            tf.keras.Input((SIZE, SIZE, 3)),
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(24, 3, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(len(NAMES), activation="softmax"),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(15)
    train = make_dataset(*pictures(1200, 1))
    test = make_dataset(*pictures(320, 2))
    model = build()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, epochs=5, verbose=2)
    print("accuracy from evaluate: %.3f" % model.evaluate(test, verbose=0)[1])
    print_report(model, test, NAMES)


if __name__ == "__main__":
    main()
