import keras
from keras import layers


class AccentNet(keras.Model):
    """Small dense classifier over averaged speech features."""

    def __init__(self, accents, widths=(96, 96), drop=0.5):
        super().__init__()
        self.blocks = []
        for width in widths:
            self.blocks.append(
                (
                    layers.Dense(width, use_bias=False),
                    layers.BatchNormalization(momentum=0.9),
                    layers.Dropout(drop),
                )
            )
        self.out = layers.Dense(accents)

    def call(self, x, training=None):
        for dense, norm, drop in self.blocks:
            x = keras.ops.relu(norm(dense(x), training=training))
            x = drop(x, training=training)
        return self.out(x)
