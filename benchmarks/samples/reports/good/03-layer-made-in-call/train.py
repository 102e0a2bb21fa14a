import numpy as np
import tensorflow as tf

from model import ChurnModel

features = np.random.rand(256, 9).astype("float32")
left = (features.sum(1) > 4.5).astype("float32")

model = ChurnModel(16)
optimizer = tf.keras.optimizers.Adam(1e-2)
bce = tf.keras.losses.BinaryCrossentropy()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices((features, left[:, None])).shuffle(256).batch(32)
for epoch in range(3):
    for x, y in batches:
        loss = step(x, y)
    print(epoch, float(loss))
