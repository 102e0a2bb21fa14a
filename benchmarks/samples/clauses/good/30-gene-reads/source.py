import tensorflow as tf


def source(x, y, batch):
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).batch(batch)
    return data.apply(tf.data.experimental.prefetch_to_device("/GPU:0"))
