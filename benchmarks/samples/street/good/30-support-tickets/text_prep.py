import tensorflow as tf

MAX_TOKENS = 200
LENGTH = 12


def vectorizer(texts):
    """Word numbering learnt on the given tickets."""
    layer = tf.keras.layers.TextVectorization(
        max_tokens=MAX_TOKENS, output_mode="int", output_sequence_length=LENGTH
    )
    layer.adapt(tf.constant(texts))
    return layer


def prepare(layer, texts):
    """Turns raw tickets into rows of word numbers."""
    return layer(tf.constant(texts)).numpy()
