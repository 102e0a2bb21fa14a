import tensorflow as tf


def weighted_ce(weight):
    def loss(y_true, p):
        y_true = tf.cast(y_true, p.dtype)
        p = tf.clip_by_value(p, 1e-6, 1.0 - 1e-6)
        terms = weight * y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p)
        return -tf.reduce_mean(terms, axis=-1)

    return loss
