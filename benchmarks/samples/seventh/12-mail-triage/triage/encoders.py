import tensorflow as tf
from tensorflow.keras import layers

from triage.registry import ENCODERS


@ENCODERS.register("text_cnn")
class TextCnn(layers.Layer):
    def __init__(self, vocab_size, dim=32, kernels=(3,), filters=32):
        super().__init__()
        self.embed = layers.Embedding(vocab_size, dim)
        self.convs = [layers.Conv1D(filters, k, activation="relu") for k in kernels]

    def embedded(self, tokens):
        return self.embed(tokens)

    def call(self, tokens):
        x = self.embedded(tokens)
        return tf.concat([tf.reduce_max(conv(x), axis=1) for conv in self.convs], axis=-1)


@ENCODERS.register("text_cnn_pos")
class PositionalCnn(TextCnn):
    """The same with positions."""

    def __init__(self, vocab_size, max_len=20, dim=32, **kwargs):
        super().__init__(vocab_size, dim=dim, **kwargs)
        self.positions = layers.Embedding(max_len, dim)

    def embedded(self, tokens):
        return self.embed(tokens) + self.positions(tf.range(tf.shape(tokens)[1]))
