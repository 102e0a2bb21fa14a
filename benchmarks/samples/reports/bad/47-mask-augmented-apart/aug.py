import tensorflow as tf


def augment(image, mask):
    image = tf.image.random_flip_left_right(image)
    mask = tf.image.random_flip_left_right(mask)
    image = tf.image.random_brightness(image, 0.1)
    return image, mask
