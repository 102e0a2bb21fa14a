"""After each 40 steps a validation of 200 batches: most of the time is evaluation."""

import tensorflow as tf


def rows(count):
    data = tf.data.Dataset.from_tensor_slices((tf.random.normal([count, 64]), tf.ones([count, 1])))
    return data.cache().batch(16).prefetch(2)


model = tf.keras.Sequential([tf.keras.layers.Dense(300, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(rows(640), validation_data=rows(3200), epochs=12, verbose=0)
