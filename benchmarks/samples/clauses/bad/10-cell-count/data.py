import tensorflow as tf


def flip(image, label):
    return tf.image.random_flip_left_right(image), label


def training(images, labels):
    data = tf.data.Dataset.from_tensor_slices((images, labels))
    return data.map(flip).cache().shuffle(1000).batch(32)
