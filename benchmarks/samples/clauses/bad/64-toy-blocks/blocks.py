import tensorflow as tf


def pairs(x, y, batch=25):
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(500).batch(batch)


def main():
    x = tf.random.normal([500, 10, 4])
    y = tf.random.uniform([500], maxval=3, dtype=tf.int32)
    data = pairs(x, y).batch(32).prefetch(1)
    model = tf.keras.Sequential([tf.keras.layers.LSTM(8), tf.keras.layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(data, epochs=2)


main()
