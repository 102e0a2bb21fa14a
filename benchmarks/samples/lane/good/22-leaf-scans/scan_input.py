import tensorflow as tf

SIDE = 640


def read_scan(path):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    image = tf.image.convert_image_dtype(image, tf.float32)
    image = tf.ensure_shape(image, (SIDE, SIDE, 3))
    kind = tf.strings.split(tf.strings.split(path, "_")[-1], ".")[0]
    return image, tf.strings.to_number(kind, tf.int32)


def shrink(image, kind):
    return tf.image.resize(image, (64, 64), method="area"), kind


def scan_dataset(pattern, batch_size=8):
    files = sorted(tf.io.gfile.glob(pattern))
    ds = tf.data.Dataset.from_tensor_slices(files)
    ds = ds.shuffle(len(files))
    ds = ds.map(read_scan, num_parallel_calls=2)
    ds = ds.map(shrink, num_parallel_calls=2)
    return ds.batch(batch_size).prefetch(1)
