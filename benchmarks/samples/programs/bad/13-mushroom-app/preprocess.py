import tensorflow as tf

SIDE = 28


def to_unit(img):
    return tf.image.convert_image_dtype(img, tf.float32)


def read_photo(png, train):
    img = tf.io.decode_png(png, channels=3)
    if train:
        img = tf.image.resize(img, (SIDE + 4, SIDE + 4))
        img = tf.image.random_crop(img, (SIDE, SIDE, 3))
    else:
        img = tf.image.resize(img, (SIDE, SIDE))
    return to_unit(img)


def read_mask(png):
    # masks keep their ids: nearest, stays uint8
    return tf.image.resize(tf.io.decode_png(png, channels=1), (SIDE, SIDE), method="nearest")
