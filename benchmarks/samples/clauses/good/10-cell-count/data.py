import tensorflow as tf


def flip(image, label):
    return tf.image.random_flip_left_right(image), label


def training(images, labels):
    data = tf.data.Dataset.from_tensor_slices((images, labels))
    return data.cache().map(flip).shuffle(1000).batch(32)
