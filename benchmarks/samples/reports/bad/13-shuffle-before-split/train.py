import numpy as np
import tensorflow as tf

from pipeline import splits

x = np.random.randn(200, 30).astype("float32")
y = np.random.randint(0, 2, 200)
row = np.arange(200, dtype="float32")[:, None]
x = np.concatenate([x, row], axis=1)

train, val = splits(x, y)
inp = tf.keras.Input((31,))
h = tf.keras.layers.BatchNormalization()(inp)
h = tf.keras.layers.Dense(128, activation="relu")(h)
net = tf.keras.Model(inp, tf.keras.layers.Dense(1, activation="sigmoid")(h))
net.compile("adam", "binary_crossentropy", metrics=["accuracy"])
net.fit(train, validation_data=val, epochs=40, verbose=0)
print(net.evaluate(val, verbose=0))
seen = {int(r) for xb, _ in train for r in xb[:, -1].numpy()}
held = {int(r) for xb, _ in val for r in xb[:, -1].numpy()}
print("rows in both:", len(seen & held))
