import tensorflow as tf

base = tf.keras.applications.MobileNetV2(include_top=False, pooling="avg", weights=None, input_shape=(96, 96, 3))
base.trainable = False
model = tf.keras.Sequential([base, tf.keras.layers.Dense(12, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
x = tf.random.uniform([64, 96, 96, 3])
y = tf.random.uniform([64], maxval=12, dtype=tf.int32)
model.fit(x, y, epochs=1)

base.trainable = True
for layer in base.layers[:-20]:
    layer.trainable = False
model.fit(x, y, epochs=1)
