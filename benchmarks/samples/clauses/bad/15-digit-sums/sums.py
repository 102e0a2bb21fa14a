import tensorflow as tf
import tensorflow_datasets as tfds


def prepare(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


train = tfds.load("mnist", as_supervised=True)["train"]
train = train.map(prepare, num_parallel_calls=tf.data.AUTOTUNE)
train = train.batch(128).shuffle(2000).prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential(
    [tf.keras.layers.Flatten(), tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(10, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=5)
