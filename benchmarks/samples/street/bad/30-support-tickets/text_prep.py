import tensorflow as tf

MAX_TOKENS = 200
LENGTH = 12


def vectorizer():
    return tf.keras.layers.TextVectorization(
        max_tokens=MAX_TOKENS, output_mode="int", output_sequence_length=LENGTH
    )


def prepare(texts):
    """Turns raw tickets into rows of word numbers."""
    texts = tf.constant(texts)
    layer = vectorizer()
    layer.adapt(texts)
    return layer(texts).numpy()
