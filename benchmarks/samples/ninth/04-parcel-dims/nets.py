import tensorflow as tf


def build_cnn(filters, kernel, image_size, outputs):
    model = tf.keras.Sequential([tf.keras.Input((image_size, image_size, 1))])
    for n in filters:
        model.add(tf.keras.layers.Conv2D(n, kernel, strides=2, activation="relu"))
    model.add(tf.keras.layers.GlobalAveragePooling2D())
    model.add(tf.keras.layers.Dense(outputs, activation="softplus"))
    return model
