import tensorflow as tf


def weighted_ce(weight):
    def loss(y_true, p):
        y_true = tf.cast(y_true, p.dtype)
        terms = weight * y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p)
        return -tf.reduce_mean(terms, axis=-1)

    return loss
