import tensorflow as tf


def dice(y, p, smooth):
    overlap = tf.reduce_sum(y * p, axis=[1, 2, 3])
    total = tf.reduce_sum(y + p, axis=[1, 2, 3])
    return 1.0 - tf.reduce_mean((2.0 * overlap + smooth) / (total + smooth))


def bce(y, p, from_logits):
    if from_logits:
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, p))
    return tf.reduce_mean(tf.keras.losses.binary_crossentropy(y, p))


def make_loss(conf):
    weight = conf["dice_weight"]

    def loss(y, p):
        return (1.0 - weight) * bce(y, p, conf["from_logits"]) + weight * dice(y, p, conf["smooth"])

    return loss
