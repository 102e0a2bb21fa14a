import keras
from keras import layers


class CoinNet(keras.Model):
    def __init__(self, kinds, width=12, **kwargs):
        super().__init__(**kwargs)
        self.conv1 = layers.Conv2D(width, 3, activation="relu")
        self.pool = layers.MaxPooling2D()
        self.conv2 = layers.Conv2D(width * 2, 3, activation="relu")
        self.flatten = layers.Flatten()
        self.hidden = layers.Dense(32, activation="relu")
        self.scores = layers.Dense(kinds)

    def call(self, x):
        x = self.pool(self.conv1(x))
        x = self.pool(self.conv2(x))
        return self.scores(self.hidden(self.flatten(x)))
