import cv2
import numpy as np
import tensorflow as tf


def signs(rows):
    for path, label in rows:
        picture = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
        yield cv2.resize(picture, (64, 64)).astype(np.float32) / 255.0, label


def training(rows):
    kinds = (tf.TensorSpec((64, 64, 3), tf.float32), tf.TensorSpec((), tf.int32))
    data = tf.data.Dataset.from_generator(lambda: signs(rows), output_signature=kinds)
    return data.shuffle(500).batch(32).prefetch(tf.data.AUTOTUNE)


rows = [(line.split()[0], int(line.split()[1])) for line in open("signs.txt")]
model = tf.keras.Sequential([tf.keras.layers.Conv2D(16, 3), tf.keras.layers.GlobalMaxPooling2D(), tf.keras.layers.Dense(43, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(training(rows), epochs=10)
