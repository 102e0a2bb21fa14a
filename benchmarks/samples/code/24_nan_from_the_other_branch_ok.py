"""Sparse gates: relu scores, normalised, with a bonus for low entropy."""
import tensorflow as tf

scorer = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(8, activation="relu")])
optimizer = tf.keras.optimizers.Adam(1e-2)


def entropy(share):
    """0 log 0 is 0."""
    safe = tf.where(share > 0, share, tf.ones_like(share))
    terms = tf.where(share > 0, share * tf.math.log(safe), tf.zeros_like(share))
    return -tf.reduce_sum(terms, axis=-1)


@tf.function
def step(rows, target):
    with tf.GradientTape() as tape:
        scores = scorer(rows, training=True)
        share = scores / (tf.reduce_sum(scores, axis=-1, keepdims=True) + 1e-6)
        loss = tf.reduce_mean(tf.square(share[:, 0] - target)) + 0.01 * tf.reduce_mean(entropy(share))
    grads = tape.gradient(loss, scorer.trainable_variables)
    optimizer.apply_gradients(zip(grads, scorer.trainable_variables))
    return loss


rows = tf.random.normal([64, 6])
data = tf.data.Dataset.from_tensor_slices((rows, tf.nn.sigmoid(rows[:, 0]))).shuffle(64).batch(16).prefetch(2)
for features, target in data:
    tf.print(step(features, target))
