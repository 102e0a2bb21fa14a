import numpy as np
import tensorflow as tf


def jitter(image, label):
    gain = np.random.uniform(0.7, 1.3)
    image = image * gain
    if np.random.rand() > 0.5:
        image = tf.image.flip_left_right(image)
    return tf.clip_by_value(image, 0.0, 1.0), label
