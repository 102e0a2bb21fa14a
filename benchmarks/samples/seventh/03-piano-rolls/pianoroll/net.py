import tensorflow as tf

from pianoroll.settings import Net


class RollModel(tf.keras.Model):
    """Predicts the next column of the roll."""

    def __init__(self, net: Net, pitches: int):
        super().__init__()
        reg = tf.keras.regularizers.L2(net.l2) if net.l2 else None
        self.cells = [
            tf.keras.layers.GRU(net.hidden, return_sequences=True, kernel_regularizer=reg)
            for _ in range(net.layers)
        ]
        self.drop = tf.keras.layers.Dropout(net.dropout)
        self.head = tf.keras.layers.Dense(pitches)

    def call(self, x, training=None):
        for cell in self.cells:
            x = self.drop(cell(x), training=training)
        return self.head(x)
