"""Shoe-sole inspection: four defect classes photographed class by class."""
import numpy as np
import tensorflow as tf

CLASSES = ("ok", "bubble", "crack", "glue")
PER_CLASS = 300
SIZE = 16


def photograph(class_id, n, rng):
    img = rng.normal(0.45, 0.12, (n, SIZE, SIZE, 1))
    if class_id == 1:
        img[:, 5:9, 5:9] += 0.35
    elif class_id == 2:
        img[:, :, 7:8] -= 0.4
    elif class_id == 3:
        img[:, 12:, :] += 0.3
    return np.clip(img, 0.0, 1.0).astype("float32")


def load_archive(seed=13):
    rng = np.random.default_rng(seed)
    images, labels = [], []
    for class_id in range(len(CLASSES)):
        images.append(photograph(class_id, PER_CLASS, rng))
        labels.append(np.full(PER_CLASS, class_id, dtype="int64"))
    return np.concatenate(images), np.concatenate(labels)


def make_model():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((SIZE, SIZE, 1)),
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(32, 3, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(len(CLASSES), activation="softmax"),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(13)
    images, labels = load_archive()

    model = make_model()
    model.compile(
        optimizer="adam",
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    history = model.fit(
        images,
        labels,
        validation_split=0.25,
        epochs=8,
        batch_size=32,
        verbose=2,
    )
    print("train accuracy %.3f" % history.history["accuracy"][-1])
    print("val accuracy   %.3f" % history.history["val_accuracy"][-1])


if __name__ == "__main__":
    main()
