import tensorflow as tf


def jitter(image, label):
    gain = tf.random.uniform([], 0.7, 1.3)
    image = image * gain
    image = tf.image.random_flip_left_right(image)
    return tf.clip_by_value(image, 0.0, 1.0), label
