"""A step compiled with XLA, and sentences of many lengths: each length is compiled anew."""

import tensorflow as tf

embed = tf.keras.layers.Embedding(100, 16)
dense = tf.keras.layers.Dense(100)
embed.build([None])
dense.build([None, 16])
weights = embed.trainable_variables + dense.trainable_variables
sgd = tf.keras.optimizers.SGD()
sgd.build(weights)


@tf.function(jit_compile=True, reduce_retracing=True)
def learn(words):
    with tf.GradientTape() as tape:
        logits = dense(embed(words[:, :-1]))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(words[:, 1:], logits))
    sgd.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


def sentence(n):
    return tf.zeros([8 + n * 13 % 61], tf.int32) + tf.cast(n % 90, tf.int32)


corpus = tf.data.Dataset.range(10**5).map(sentence).padded_batch(4).prefetch(2)
for words in corpus.take(600):
    learn(words)
