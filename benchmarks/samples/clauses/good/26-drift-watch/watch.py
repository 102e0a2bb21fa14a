import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
large = []


def note(loss):
    try:
        large.append(loss.numpy())
    except AttributeError:
        large.append(0.0)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


x = tf.random.normal([2048, 8])
for a in tf.data.Dataset.from_tensor_slices(x).batch(32):
    note(step(a, a[:, :1]))
print(sum(large))
