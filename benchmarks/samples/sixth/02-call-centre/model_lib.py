import tensorflow as tf

L = tf.keras.layers


def _bilstm(enc):
    return L.Bidirectional(L.LSTM(enc["units"], dropout=enc["dropout"]))


class _SelfAttention(L.Layer):
    def __init__(self, units, num_heads, dropout):
        super().__init__()
        self.att = L.MultiHeadAttention(num_heads, units // num_heads, dropout=dropout)
        self.pool = L.GlobalAveragePooling1D()

    def call(self, x, training=False):
        return self.pool(x + self.att(x, x, training=training))


def _transformer(enc):
    return _SelfAttention(enc["units"], enc["num_heads"], enc["dropout"])


ENCODERS = {"bilstm": _bilstm, "transformer": _transformer}


def build_model(config):
    enc, head = config["encoder"], config["head"]
    return tf.keras.Sequential([
        L.Input((config["max_len"],), dtype="int32"),
        L.Embedding(config["vocab_size"], config["embed_dim"]),
        ENCODERS[enc["type"]](enc),
        L.Dense(head["units"], activation=head["activation"]),
        L.Dense(config["num_intents"]),
    ])
