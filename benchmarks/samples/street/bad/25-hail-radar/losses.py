import tensorflow as tf


def focal_loss(y_true, y_pred, gamma=2.0, alpha=0.75):
    """Binary focal loss for rare hail cells."""
    y_pred = tf.clip_by_value(y_pred, 1e-6, 1.0 - 1e-6)
    p_t = y_true * y_pred + (1.0 - y_true) * (1.0 - y_pred)
    weight = y_true * alpha + (1.0 - y_true) * (1.0 - alpha)
    return -tf.reduce_mean(weight * tf.pow(1.0 - p_t, gamma) * tf.math.log(p_t), axis=-1)
