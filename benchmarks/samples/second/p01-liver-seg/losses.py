import tensorflow as tf

from settings import CFG

W = CFG["training"].get("dice_weight", 0.5)


def dice_ce(y_true, y_pred):
    ce = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y_true, y_pred))
    hot = tf.one_hot(tf.cast(tf.squeeze(y_true, -1), tf.int32), tf.shape(y_pred)[-1])
    overlap = tf.reduce_sum(hot * y_pred, axis=(1, 2))
    total = tf.reduce_sum(hot + y_pred, axis=(1, 2))
    dice = 1.0 - tf.reduce_mean((2.0 * overlap + 1.0) / (total + 1.0))
    return W * dice + (1.0 - W) * ce
