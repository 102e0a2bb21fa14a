import numpy as np
import tensorflow as tf

MEAN = tf.constant(np.arange(20), tf.float32)


def centred(row, target):
    return (row - MEAN) / 20.0, target


rows = np.random.rand(200_000, 20).astype("float32")
data = tf.data.Dataset.from_tensor_slices((rows, rows.sum(1))).shuffle(10_000)
data = data.batch(1024).map(centred, num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(data, epochs=5)
