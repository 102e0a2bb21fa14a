import numpy as np
import tensorflow as tf

VOCAB, MAXLEN, TAGS = 400, 20, 5


def corpus(n, seed):
    rng = np.random.default_rng(seed)
    lens = rng.integers(5, MAXLEN + 1, n)
    x = np.zeros((n, MAXLEN), "int32")
    y = np.zeros((n, MAXLEN), "int32")
    for i, l in enumerate(lens):
        x[i, :l] = rng.integers(1, VOCAB, l)
        y[i, :l] = x[i, :l] % TAGS
    return x, y


class Tagger(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = tf.keras.layers.Embedding(VOCAB, 24)
        self.rnn = tf.keras.layers.GRU(24, return_sequences=True)
        self.out = tf.keras.layers.Dense(TAGS)

    def call(self, ids, training=False):
        return self.out(self.rnn(self.emb(ids), training=training))


model = Tagger()
opt = tf.keras.optimizers.Adam(3e-3)
xent = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
history = []


@tf.function
def train_step(x, y):
    mask = tf.cast(x > 0, tf.float32)
    with tf.GradientTape() as tape:
        per_tok = xent(y, model(x, training=True)) * mask
        loss = tf.reduce_sum(per_tok) / tf.reduce_sum(mask)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    history.append(loss.numpy())
    return loss


@tf.function
def token_accuracy(x, y):
    hit = tf.cast(tf.argmax(model(x), -1, output_type=tf.int32) == y, tf.float32)
    mask = tf.cast(x > 0, tf.float32)
    return tf.reduce_sum(hit * mask) / tf.reduce_sum(mask)


xtr, ytr = corpus(640, 0)
xte, yte = corpus(160, 1)
ds = tf.data.Dataset.from_tensor_slices((xtr, ytr)).shuffle(640, seed=1).batch(32)
for epoch in range(3):
    for x, y in ds:
        loss = train_step(x, y)
    print("epoch", epoch, "loss", float(loss), "acc", float(token_accuracy(xte, yte)))
print("mean of last 10:", np.mean(history[-10:]))
