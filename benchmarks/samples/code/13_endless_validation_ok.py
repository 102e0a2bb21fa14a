import numpy as np
import tensorflow as tf

BATCH = 16


def pipeline(x, y, training):
    data = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        data = data.shuffle(len(x))
    return data.batch(BATCH).repeat().prefetch(tf.data.AUTOTUNE)


x = np.random.rand(320, 8).astype("float32")
y = x.mean(axis=1, keepdims=True)
train = pipeline(x[:256], y[:256], training=True)
valid = pipeline(x[256:], y[256:], training=False)

model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(train, epochs=3, steps_per_epoch=256 // BATCH, validation_data=valid,
          validation_steps=64 // BATCH, verbose=2)
