from keras import Input, Model, layers


def text_cnn(vocab, length, topics, filters=16, kernel_sizes=(3, 4, 5), dropout=0.2):
    inputs = Input((length,), dtype="int32")
    x = layers.Embedding(vocab, 16)(inputs)
    pooled = [layers.GlobalMaxPooling1D()(layers.Conv1D(filters, k)(x)) for k in kernel_sizes]
    x = layers.Dropout(dropout)(layers.Concatenate()(pooled))
    return Model(inputs, layers.Dense(topics, activation="softmax")(x))
