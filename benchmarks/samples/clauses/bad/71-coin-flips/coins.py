import tensorflow as tf


def maybe_mirror(image):
    coin = tf.random.uniform([], minval=0, maxval=1, dtype=tf.int32)
    return tf.cond(tf.equal(coin, 1), lambda: tf.image.flip_left_right(image), lambda: image)


data = tf.data.Dataset.from_tensor_slices(tf.random.uniform([100, 8, 8, 1]))
for image in data.map(maybe_mirror).batch(10):
    print(image.shape)
