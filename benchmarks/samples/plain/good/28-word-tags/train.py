import tensorflow as tf

from corpus import TAGS, VOCAB, sentences
from losses import sequence_loss, word_accuracy

tf.keras.utils.set_random_seed(44)
EPOCHS = 8

inputs = tf.keras.Input((None,), dtype="int32")
x = tf.keras.layers.Embedding(VOCAB, 24)(inputs)
x = tf.keras.layers.Conv1D(64, 2, padding="causal", activation="relu")(x)
outputs = tf.keras.layers.Dense(TAGS)(x)
model = tf.keras.Model(inputs, outputs)
optimizer = tf.keras.optimizers.SGD(0.5, momentum=0.9)


@tf.function
def train_step(words, tags):
    with tf.GradientTape() as tape:
        logits = model(words, training=True)
        loss = sequence_loss(tags, words, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices(sentences(1500, 1))
ds = ds.shuffle(1500).batch(50).prefetch(tf.data.AUTOTUNE)
val_words, val_tags = map(tf.constant, sentences(300, 2))

for epoch in range(EPOCHS):
    mean = tf.keras.metrics.Mean()
    for words, tags in ds:
        mean.update_state(train_step(words, tags))
    val_logits = model(val_words, training=False)
    print(f"epoch {epoch} loss {float(mean.result()):.4f} "
          f"word accuracy {float(word_accuracy(val_tags, val_words, val_logits)):.3f}")
