"""Hold out a fifth of the rows for validation."""
import numpy as np
import tensorflow as tf

N = 1000
table = np.random.rand(N, 9).astype("float32")
labels = (table.sum(1) > 4.5).astype("float32")

full = tf.data.Dataset.from_tensor_slices((table, labels)).shuffle(N, seed=42)
val_size = N // 5
val_ds = full.take(val_size).batch(64).prefetch(tf.data.AUTOTUNE)
train_ds = full.skip(val_size).batch(64).prefetch(tf.data.AUTOTUNE)

clf = tf.keras.Sequential([
    tf.keras.Input((9,)),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
clf.compile("adam", "binary_crossentropy", metrics=["accuracy"])
clf.fit(train_ds, validation_data=val_ds, epochs=10)
