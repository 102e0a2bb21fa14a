import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(learning_rate=3e-3)
loss_fn = tf.keras.losses.MeanSquaredError()


@tf.function
def train_on(batch, target):
    with tf.GradientTape() as tape:
        loss = loss_fn(target, model(batch, training=True))
    variables = model.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(variables, gradients))
    return loss


stream = tf.data.Dataset.from_tensor_slices((tf.random.normal([96, 4]), tf.random.normal([96, 1])))
for batch, target in stream.shuffle(96).batch(12).prefetch(2):
    tf.print(train_on(batch, target))
