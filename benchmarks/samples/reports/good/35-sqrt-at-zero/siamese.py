import tensorflow as tf


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1) + 1e-12)


def triplet(anchor, positive, negative, margin=1.0):
    gap = distance(anchor, positive) - distance(anchor, negative) + margin
    return tf.reduce_mean(tf.maximum(gap, 0.0))
