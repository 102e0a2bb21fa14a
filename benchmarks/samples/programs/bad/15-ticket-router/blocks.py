from tensorflow import keras
from tensorflow.keras import layers


class PositionScale(layers.Layer):
    """learned gain for every channel of the embedding"""

    def build(self, shape):
        self.gain = self.add_weight(shape=(shape[-1],), initializer="ones", name="gain")

    def call(self, x):
        return x * self.gain


def text_tower(vocab, dim=12):
    ids = keras.Input((None,), dtype="int32")
    x = layers.Embedding(vocab, dim, mask_zero=True)(ids)
    x = PositionScale()(x)
    x = layers.SpatialDropout1D(0.1)(x)
    x = layers.LSTM(10)(x)
    return keras.Model(ids, layers.Dense(3, activation="softmax")(x))
