import time

import tensorflow as tf

from pipeline import ALPHABET, make_dataset, sample_names

tf.keras.utils.set_random_seed(1)
EPOCHS = 2

model = tf.keras.Sequential([
    tf.keras.layers.Embedding(len(ALPHABET) + 1, 16, mask_zero=True),
    tf.keras.layers.GRU(24),
    tf.keras.layers.Dense(4),
])
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(5e-3)
train_loss = tf.keras.metrics.Mean()
train_acc = tf.keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(tokens, labels):
    with tf.GradientTape() as tape:
        logits = model(tokens, training=True)
        loss = loss_fn(labels, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)
    train_acc.update_state(labels, logits)


names, labels = sample_names(240, seed=1)
dataset = make_dataset(names, labels, batch_size=8)

for epoch in range(EPOCHS):
    train_loss.reset_state()
    train_acc.reset_state()
    start = time.time()
    for tokens, y in dataset:
        train_step(tokens, y)
    print(f"epoch {epoch} loss {float(train_loss.result()):.3f} "
          f"acc {float(train_acc.result()):.3f} {time.time() - start:.1f}s")
