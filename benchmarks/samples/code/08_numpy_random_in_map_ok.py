import tensorflow as tf


def jitter(image, label):
    image = tf.image.random_contrast(image, 0.7, 1.3)
    image = tf.image.random_flip_left_right(image)
    return image, label


images = tf.random.uniform([64, 32, 32, 3])
labels = tf.random.uniform([64], 0, 10, tf.int64)
train = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .shuffle(64)
    .map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(16)
    .prefetch(tf.data.AUTOTUNE)
)
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, epochs=3)
