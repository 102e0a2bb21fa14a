import tensorflow as tf


def examples(rows, targets, batch):
    return tf.data.Dataset.from_tensor_slices((rows, targets)).shuffle(500).repeat().batch(batch)


def train(model, rows, targets):
    cut = int(len(rows) * 0.8)
    return model.fit(
        examples(rows[:cut], targets[:cut], 32),
        validation_data=(rows[cut:], targets[cut:]),
        epochs=10,
    )


net = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
net.compile("adam", "mse")
x = tf.random.normal([1000, 5])
train(net, x, tf.reduce_sum(x, 1))
