import numpy as np
import tensorflow as tf

FIRST, MORE = 10, 5


def net():
    m = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
    m.compile("adam", "mse")
    return m


x = np.random.rand(200, 3)
y = x.prod(1)
m = net()
m.fit(x, y, epochs=FIRST, verbose=0)
m.save("stage1.keras")

m = tf.keras.models.load_model("stage1.keras")
second = m.fit(x, y, initial_epoch=FIRST, epochs=FIRST + MORE, verbose=2)
m.save("stage2.keras")
print("epochs of stage 2:", second.epoch)
