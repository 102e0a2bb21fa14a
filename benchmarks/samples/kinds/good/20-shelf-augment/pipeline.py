import tensorflow as tf

AUTO = tf.data.AUTOTUNE


def decode(img, label):
    img = tf.image.convert_image_dtype(img, tf.float32)
    return img, label


def augment(img, label):
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_brightness(img, 0.2)
    img = tf.image.random_crop(img, (24, 24, 3))
    return img, label


def centre(img, label):
    return tf.image.resize_with_crop_or_pad(img, 24, 24), label


def build(images, labels, training, batch_size=32):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.map(decode, num_parallel_calls=AUTO)
    ds = ds.cache()
    if training:
        ds = ds.map(augment, num_parallel_calls=AUTO)
    else:
        ds = ds.map(centre, num_parallel_calls=AUTO)
    if training:
        ds = ds.shuffle(len(images))
    return ds.batch(batch_size).prefetch(AUTO)
