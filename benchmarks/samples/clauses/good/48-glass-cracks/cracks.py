import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Conv2D(8, 3, activation="relu"), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = bce(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


x = tf.random.normal([256, 16, 16, 1])
for a, b in tf.data.Dataset.from_tensor_slices((x, tf.zeros([256, 1]))).batch(32):
    step(a, b)
