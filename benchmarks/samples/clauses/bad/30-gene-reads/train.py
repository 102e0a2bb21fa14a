import tensorflow as tf
from source import source


def main():
    x = tf.random.normal([8192, 100])
    y = tf.random.uniform([8192], maxval=2, dtype=tf.int32)
    data = source(x, y, 256).prefetch(tf.data.AUTOTUNE)
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(2, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(data, epochs=5)


main()
