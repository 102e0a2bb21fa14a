import gc

import tensorflow as tf
from tensorflow.keras import backend as K

model = tf.keras.Sequential([tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(16)])
optimizer = tf.keras.optimizers.Adam()


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x, training=True) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(tf.random.normal([20000, 64])).batch(32).prefetch(2)
for epoch in range(3):
    for number, x in enumerate(data):
        loss = step(x)
        if number % 100 == 0:
            K.clear_session()
            gc.collect()
    print(epoch, float(loss))
