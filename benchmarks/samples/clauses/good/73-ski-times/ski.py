import tensorflow as tf

net = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
seen = tf.keras.metrics.Mean("loss")


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(x) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    seen.update_state(loss)


x = tf.random.normal([1000, 5])
data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).shuffle(1000).batch(50)
for epoch in range(30):
    for a, b in data:
        step(a, b)
    print(f"epoch {epoch}: {seen.result():.3f}")
    seen.reset_state()
