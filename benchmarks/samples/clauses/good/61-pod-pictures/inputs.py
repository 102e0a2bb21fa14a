import tensorflow as tf


def decode(path, label):
    picture = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(picture, [224, 224]) / 255.0, label


def inputs(paths, labels, batch):
    data = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(len(paths))
    data = data.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    return data.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
