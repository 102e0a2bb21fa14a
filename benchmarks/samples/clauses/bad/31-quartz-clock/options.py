import tensorflow as tf


def unordered(data):
    options = tf.data.Options()
    options.deterministic = False
    return data.with_options(options)
