import tensorflow as tf


def weighted_crossentropy(onehot, logits, weights):
    """Cross-entropy where a missed open gate costs more than a missed closed one."""
    log_p = tf.nn.log_softmax(logits)
    per_class = onehot * log_p * weights
    return -tf.reduce_mean(tf.reduce_sum(per_class, axis=-1))
