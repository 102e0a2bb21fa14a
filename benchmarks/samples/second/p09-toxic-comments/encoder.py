from tensorflow.keras import Input, Model, layers


def build(tokens, enc):
    inputs = Input((tokens["length"],), dtype="int32")
    x = layers.Embedding(tokens["vocab"], enc["width"])(inputs)
    for _ in range(enc["blocks"]):
        a = layers.MultiHeadAttention(enc["heads"], enc["width"] // enc["heads"], dropout=enc["dropout"])(x, x)
        x = layers.LayerNormalization()(x + a)
        d = layers.Dense(enc["width"], activation="gelu")(x)
        x = layers.LayerNormalization()(x + d)
    x = layers.GlobalAveragePooling1D()(x)
    return Model(inputs, layers.Dense(1, activation="sigmoid")(x))
