import numpy as np
import tensorflow as tf

from loop import Runner

g = np.random.default_rng(2)
x = g.normal(size=(600, 12)).astype("float32")
y = (x[:, :3]).argmax(1)
ds = tf.data.Dataset.from_tensor_slices((x, y))
train, val = ds.take(500).shuffle(500).batch(25), ds.skip(500).batch(50)

net = tf.keras.Sequential([tf.keras.Input((12,)), tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(3)])
best = Runner(net, 0.01).run(train, val, 6)
print("best", best, "last alone", np.mean(net.predict(x[500:], verbose=0).argmax(1) == y[500:]))
