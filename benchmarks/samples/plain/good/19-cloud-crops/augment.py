import tensorflow as tf


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_flip_up_down(image)
    image = tf.image.random_brightness(image, 0.1)
    image = tf.image.resize_with_crop_or_pad(image, 28, 28)
    image = tf.image.random_crop(image, [24, 24, 1])
    return image, label
