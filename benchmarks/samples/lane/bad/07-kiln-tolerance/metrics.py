import numpy as np
import tensorflow as tf


def within_tolerance(y_true, y_pred):
    """Share of firings predicted to within fifteen degrees."""
    error = np.abs(y_true.numpy() - y_pred.numpy())
    return np.mean(error < 0.15)


def worst_error(y_true, y_pred):
    return tf.reduce_max(tf.abs(tf.cast(y_true, y_pred.dtype) - y_pred))
