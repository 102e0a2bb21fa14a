import tensorflow as tf

DATASETS = {}


def dataset(fn):
    DATASETS[fn.__name__] = fn
    return fn


@dataset
def tfrecord_pairs(pattern, tile, bands, readers, shuffle, batch, repeat):
    files = tf.data.Dataset.list_files(pattern, seed=0)
    ds = files.interleave(tf.data.TFRecordDataset, cycle_length=readers, num_parallel_calls=tf.data.AUTOTUNE)
    spec = {"before": tf.io.FixedLenFeature([], tf.string), "after": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([1], tf.float32)}

    def parse(raw):
        ex = tf.io.parse_single_example(raw, spec)
        pair = [tf.reshape(tf.io.decode_raw(ex[k], tf.float32), (tile, tile, bands)) for k in ("before", "after")]
        return tuple(pair), ex["label"]

    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE).shuffle(shuffle, seed=1)
    if repeat:
        ds = ds.repeat()
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)
