import tensorflow as tf


def augment(image, mask):
    both = tf.image.random_flip_left_right(tf.concat([image, mask], axis=-1))
    image, mask = both[..., :1], both[..., 1:]
    image = tf.image.random_brightness(image, 0.1)
    return image, mask
