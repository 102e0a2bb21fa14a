import numpy as np
import tensorflow as tf


def make_train_set(features, targets, batch_size=32):
    dataset = tf.data.Dataset.from_tensor_slices((features, targets))
    dataset = dataset.shuffle(buffer_size=len(features))
    dataset = dataset.batch(batch_size)
    return dataset.prefetch(tf.data.AUTOTUNE)


features = np.random.rand(500, 12).astype("float32")
order = np.argsort(features[:, 0])
features, targets = features[order], features[order, :1]

model = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
model.fit(make_train_set(features, targets), epochs=5)
