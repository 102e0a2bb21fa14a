import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)

model = tf.keras.Sequential([tf.keras.layers.Dense(128, activation="relu"), tf.keras.layers.Dense(936)])
model.compile("adam", "mae")
pixels = tf.random.normal([256, 1024])
model.fit(pixels, tf.random.normal([256, 936]), epochs=2)
