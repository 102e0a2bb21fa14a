import tensorflow as tf


def augment(image, label, seed):
    image = tf.image.stateless_random_flip_left_right(image, seed)
    image = tf.image.stateless_random_brightness(image, 0.2, seed + 1)
    return image, label
