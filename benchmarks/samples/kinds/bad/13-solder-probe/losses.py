import tensorflow as tf


def focal(y_true, logits, gamma=2.0):
    y_true = tf.cast(y_true, logits.dtype)
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=logits)
    p = tf.sigmoid(logits)
    pt = y_true * p + (1 - y_true) * (1 - p)
    return tf.reduce_mean((1 - pt) ** gamma * ce)


def l2_penalty(model, weight=1e-4):
    return weight * tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables if "kernel" in v.path])
