import tensorflow as tf

L = tf.keras.layers
POOLS = {"mean": L.GlobalAveragePooling1D, "max": L.GlobalMaxPooling1D}


def build(settings):
    enc = settings.encoder
    tower = tf.keras.Sequential([
        L.Input((settings.max_len,), dtype="int32"),
        L.Embedding(enc.vocab, enc.dim),
        POOLS[enc.pooling](),
    ])
    q = L.Input((settings.max_len,), dtype="int32")
    a = L.Input((settings.max_len,), dtype="int32")
    return tf.keras.Model([q, a], L.Dense(1, activation="sigmoid")(L.Multiply()([tower(q), tower(a)])))
