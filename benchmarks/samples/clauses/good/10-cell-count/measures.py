import tensorflow as tf


def kappa(classes):
    return tf.keras.metrics.SparseCategoricalAccuracy()
