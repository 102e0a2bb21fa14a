import tensorflow as tf

from corpus import PAD

token_loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def sequence_loss(tags, words, logits):
    return tf.reduce_mean(token_loss(tags, logits))


def word_accuracy(tags, words, logits):
    mask = words != PAD
    hit = tf.equal(tf.argmax(logits, -1, output_type=tf.int32), tags)
    return tf.reduce_mean(tf.cast(tf.boolean_mask(hit, mask), tf.float32))
