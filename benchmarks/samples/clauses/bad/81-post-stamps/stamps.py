import tensorflow as tf

SPEC = {"year": tf.io.FixedLenFeature([], tf.float32), "shape": tf.io.FixedLenFeature([64], tf.float32)}


def parse(record):
    found = tf.io.parse_single_example(record, SPEC)
    return found["shape"], found["year"]


data = tf.data.TFRecordDataset("stamps.tfrecord").shuffle(10_000)
data = data.map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(512).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mae")
model.fit(data, epochs=3)
