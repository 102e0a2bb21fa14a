import tensorflow as tf


def parse(line):
    values = tf.strings.to_number(tf.strings.split(line, ","))
    values = tf.ensure_shape(values, [4])
    return values[:-1] / 7.0, values[-1:] / 1000.0


def training_data(lines, batch_size):
    return (
        tf.data.Dataset.from_tensor_slices(lines)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()
        .shuffle(1000)
        .batch(batch_size)
        .prefetch(tf.data.AUTOTUNE)
    )


lines = [f"{i % 7},{i % 5},{i % 3},{i}" for i in range(1000)]
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
model.compile("rmsprop", "mae")
model.fit(training_data(lines, 50), epochs=10, verbose=2)
