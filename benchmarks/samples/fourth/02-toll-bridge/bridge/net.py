import tensorflow as tf

from .flags import FLAGS


def dense():
    return [tf.keras.layers.Flatten(), tf.keras.layers.Dense(8, activation=FLAGS.activation)]


def gru():
    return [tf.keras.layers.GRU(8)]


def build(shape):
    body = {"dense": dense, "gru": gru}[FLAGS.body]
    return tf.keras.Sequential([tf.keras.Input(shape), *body(), tf.keras.layers.Dense(1)])
