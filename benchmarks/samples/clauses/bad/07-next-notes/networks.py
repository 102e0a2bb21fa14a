import tensorflow as tf


def read(path):
    return tf.keras.models.load_model(path, compile=False)
