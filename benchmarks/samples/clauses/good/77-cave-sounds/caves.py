import tensorflow as tf

penalty = tf.keras.regularizers.l2(1e-3)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(64, activation="relu", kernel_regularizer=penalty),
        tf.keras.layers.Dense(6, kernel_regularizer=penalty),
    ]
)
optimizer = tf.keras.optimizers.SGD(0.1)
cross = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = cross(y, model(x, training=True)) + tf.add_n(model.losses)
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    return loss


x = tf.random.normal([600, 20])
y = tf.random.uniform([600], maxval=6, dtype=tf.int32)
for a, b in tf.data.Dataset.from_tensor_slices((x, y)).repeat(4).shuffle(600).batch(30):
    step(a, b)
