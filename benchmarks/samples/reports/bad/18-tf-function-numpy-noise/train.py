import numpy as np
import tensorflow as tf

from augment import jitter

np.random.seed(4)
digits = np.full((64, 12, 12, 1), 0.5, "float32")
classes = np.random.randint(0, 4, 64)

ds = tf.data.Dataset.from_tensor_slices((digits, classes))
ds = ds.shuffle(64).map(jitter, num_parallel_calls=tf.data.AUTOTUNE).batch(16).prefetch(1)

print("distinct gains", len({round(float(v), 4) for x, _ in ds for v in x[:, 0, 0, 0]}))
net = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)])
net.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
net.fit(ds, epochs=2, verbose=2)
