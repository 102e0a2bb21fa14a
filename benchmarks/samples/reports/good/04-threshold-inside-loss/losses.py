import tensorflow as tf


def overlap(a, b):
    return tf.reduce_sum(a * b, axis=[1, 2, 3])


def dice_loss(y_true, y_pred):
    y_true = tf.cast(y_true, tf.float32)
    mask = tf.cast(y_pred, tf.float32)
    inter = overlap(y_true, mask)
    total = tf.reduce_sum(y_true, [1, 2, 3]) + tf.reduce_sum(mask, [1, 2, 3])
    return 1.0 - (2.0 * inter + 1.0) / (total + 1.0)


def dice_score(y_true, y_pred):
    y_true = tf.cast(y_true, tf.float32)
    hard = tf.cast(y_pred > 0.5, tf.float32)
    total = tf.reduce_sum(y_true, [1, 2, 3]) + tf.reduce_sum(hard, [1, 2, 3])
    return (2.0 * overlap(y_true, hard) + 1.0) / (total + 1.0)
