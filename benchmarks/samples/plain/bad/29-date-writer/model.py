import tensorflow as tf

VOCAB = 12


def build(units=64):
    source = tf.keras.Input((None,), dtype="int32", name="source")
    given = tf.keras.Input((None,), dtype="int32", name="given")
    embed_src = tf.keras.layers.Embedding(VOCAB, 24)(source)
    _, state = tf.keras.layers.GRU(units, return_state=True)(embed_src)
    embed_tgt = tf.keras.layers.Embedding(VOCAB, 24)(given)
    x = tf.keras.layers.GRU(units, return_sequences=True)(embed_tgt, initial_state=state)
    logits = tf.keras.layers.Dense(VOCAB)(x)
    return tf.keras.Model({"source": source, "given": given}, logits)
