import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
SIZE = 96


def encode_tiles(count):
    """Deterministic fake satellite tiles, stored as PNG strings."""
    tiles, labels = [], []
    for i in range(count):
        label = i % 3
        noise = tf.random.stateless_uniform([SIZE, SIZE, 3], [i, 7], 0, 90, tf.int32)
        tile = tf.cast(noise + 60 * label, tf.uint8)
        tiles.append(tf.io.encode_png(tile))
        labels.append(label)
    return tf.stack(tiles), tf.constant(labels)


def decode(png, label):
    image = tf.io.decode_png(png, channels=3)
    image = tf.reshape(image, [SIZE, SIZE, 3])
    return tf.cast(image, tf.float32) / 127.5 - 1.0, label


def training_data(tiles, labels, batch_size):
    ds = tf.data.Dataset.from_tensor_slices((tiles, labels))
    ds = ds.map(decode, num_parallel_calls=AUTOTUNE)
    ds = ds.cache()
    ds = ds.shuffle(tiles.shape[0])
    ds = ds.repeat()
    return ds.batch(batch_size).prefetch(AUTOTUNE)
