"""Custom loop with a running accuracy."""
import tensorflow as tf

x = tf.random.normal([512, 10])
y = tf.cast(tf.reduce_sum(x, 1) > 0, tf.float32)[:, None]
batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512).batch(64).prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1)])
adam = tf.keras.optimizers.Adam(0.01)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
accuracy = tf.keras.metrics.BinaryAccuracy(threshold=0.0)
mean_loss = tf.keras.metrics.Mean()


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        logits = model(features, training=True)
        loss = bce(target, logits)
    adam.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    accuracy.update_state(target, logits)
    mean_loss.update_state(loss)


for epoch in range(1, 6):
    accuracy.reset_state()
    mean_loss.reset_state()
    for features, target in batches:
        train_step(features, target)
    print(f"epoch {epoch}  loss {mean_loss.result():.4f}  accuracy {accuracy.result():.4f}")
