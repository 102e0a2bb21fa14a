import numpy as np
import tensorflow as tf


def read(path):
    picture = tf.io.decode_png(tf.io.read_file(path), channels=1)
    return tf.image.resize(picture, (128, 128)) / 255.0


paths = sorted(tf.io.gfile.glob("hands/*.png"))
labels = np.array([int(path.split("_")[-1][0]) for path in paths])
data = tf.data.Dataset.from_tensor_slices(paths).map(read, num_parallel_calls=tf.data.AUTOTUNE)
pictures = np.array(list(data.as_numpy_iterator()))

model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(pictures, labels, epochs=5)
