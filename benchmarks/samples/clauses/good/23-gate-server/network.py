import tensorflow as tf

NET = tf.keras.Sequential([tf.keras.Input((16,)), tf.keras.layers.Dense(4), tf.keras.layers.Softmax()])


def answer(row):
    return NET(row)
