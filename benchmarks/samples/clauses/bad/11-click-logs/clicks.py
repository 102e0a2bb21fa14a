import tensorflow as tf

FEATURES = {"clicks": tf.io.FixedLenFeature([32], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64)}


def parse(rows):
    row = tf.io.parse_example(rows, FEATURES)
    return row["clicks"], row["label"]


def clicks(pattern, batch):
    files = tf.data.Dataset.list_files(pattern)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=8)
    return records.shuffle(10_000).batch(batch).map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(clicks("gs://logs/clicks-*.tfrecord", 1024), epochs=2)
