import tensorflow as tf


def within_tolerance(y_true, y_pred):
    """Share of firings predicted to within fifteen degrees."""
    error = tf.abs(tf.cast(y_true, y_pred.dtype) - y_pred)
    return tf.reduce_mean(tf.cast(error < 0.15, tf.float32))


def worst_error(y_true, y_pred):
    return tf.reduce_max(tf.abs(tf.cast(y_true, y_pred.dtype) - y_pred))
