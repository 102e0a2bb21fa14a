import tensorflow as tf

tf.random.set_seed(7)


def louder(wave, label):
    gain = tf.random.uniform([], 0.5, 1.5, seed=3)
    noise = tf.random.normal(tf.shape(wave), stddev=0.01, seed=4)
    return wave * gain + noise, label


waves = tf.random.normal([400, 800])
labels = tf.random.uniform([400], maxval=3, dtype=tf.int32)
data = tf.data.Dataset.from_tensor_slices((waves, labels))
data = data.map(louder, num_parallel_calls=tf.data.AUTOTUNE).shuffle(400).batch(20)

model = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(data, epochs=20)
