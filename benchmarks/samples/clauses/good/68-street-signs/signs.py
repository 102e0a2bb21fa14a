import tensorflow as tf


def picture(path, label):
    found = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(found, (64, 64)) / 255.0, label


def training(rows):
    data = tf.data.Dataset.from_tensor_slices(([row[0] for row in rows], [row[1] for row in rows]))
    return data.shuffle(len(rows)).map(picture, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)


rows = [(line.split()[0], int(line.split()[1])) for line in open("signs.txt")]
model = tf.keras.Sequential([tf.keras.layers.Conv2D(16, 3), tf.keras.layers.GlobalMaxPooling2D(), tf.keras.layers.Dense(43, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(training(rows), epochs=10)
