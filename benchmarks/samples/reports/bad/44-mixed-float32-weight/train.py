import numpy as np
import tensorflow as tf

from layers import ChannelGain

tf.keras.mixed_precision.set_global_policy("mixed_float16")

inp = tf.keras.Input((12, 12, 3))
h = tf.keras.layers.Conv2D(8, 3, activation="relu")(inp)
h = ChannelGain()(h)
h = tf.keras.layers.GlobalAveragePooling2D()(h)
out = tf.keras.layers.Dense(5, activation="softmax", dtype="float32")(h)
net = tf.keras.Model(inp, out)
net.compile("adam", "sparse_categorical_crossentropy")
net.fit(np.random.rand(32, 12, 12, 3), np.random.randint(0, 5, 32), epochs=1, verbose=2)
