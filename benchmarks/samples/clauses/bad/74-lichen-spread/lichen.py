import tensorflow as tf
from loops import Loop

x = tf.random.normal([600, 9])
y = tf.cast(x[:, 0] > 0, tf.int32)
train = tf.data.Dataset.from_tensor_slices((x[:500], y[:500])).shuffle(500).batch(25)
valid = tf.data.Dataset.from_tensor_slices((x[500:], y[500:])).batch(25)
model = tf.keras.Sequential([tf.keras.layers.Dense(2, activation="softmax")])
Loop(model, tf.keras.optimizers.Adam()).run(train, valid, 10)
