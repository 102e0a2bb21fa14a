import numpy as np
import tensorflow as tf

from attention import SelfAttention

tf.keras.utils.set_random_seed(1)
VOCAB, T, DIM = 12, 16, 16


class LM(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.tok = tf.keras.layers.Embedding(VOCAB, DIM)
        self.pos = tf.keras.layers.Embedding(T, DIM)
        self.att = SelfAttention(DIM, heads=4)
        self.out = tf.keras.layers.Dense(VOCAB)

    def call(self, ids):
        x = self.tok(ids) + self.pos(tf.range(tf.shape(ids)[1]))
        return self.out(x + self.att(x))


start = np.random.randint(0, VOCAB, (256, 1))
text = (start + np.arange(T + 1) * 5) % VOCAB
model = LM()
model.compile(tf.keras.optimizers.Adam(0.01), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(text[:, :-1], text[:, 1:], epochs=4, batch_size=32, verbose=0)

a = text[:1, :-1].copy()
b = a.copy()
b[0, -1] = (b[0, -1] + 1) % VOCAB
change = np.abs(model(a).numpy() - model(b).numpy()).max(axis=-1)[0]
print("only the last token differs; positions whose output changes:", np.flatnonzero(change > 1e-5).tolist())
