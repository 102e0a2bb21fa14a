import numpy as np
import tensorflow as tf


def build(depth):
    model = tf.keras.Sequential([tf.keras.layers.Input((8,))])
    for _ in range(depth):
        model.add(tf.keras.layers.Dense(16, activation="relu"))
    model.add(tf.keras.layers.Dense(1))
    return model


x = np.random.rand(200, 8)
y = x.sum(1)
results = {}
for depth in (1, 2, 4):
    tf.keras.backend.clear_session()
    model = build(depth)
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse")
    results[depth] = model.fit(x, y, epochs=3, verbose=0).history["loss"][-1]
print(results)
