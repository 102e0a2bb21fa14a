"""MirroredStrategy over two logical CPUs; every batch of the input waits 40 ms."""

import time

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def slowly(x):
    time.sleep(0.04)
    return x


def read(x):
    batch = tf.numpy_function(slowly, [x], tf.float32)
    batch.set_shape([16, 8])
    return batch, batch[:, :1]


data = tf.data.Dataset.from_tensors(tf.ones([16, 8])).repeat().map(read).prefetch(2)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(16), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(data, steps_per_epoch=300, epochs=1, verbose=0)
