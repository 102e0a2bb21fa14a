import tensorflow as tf
from tensorflow import keras


class GatedBlock(keras.layers.Layer):
    """y = x * sigmoid(W x)"""

    def __init__(self, rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self.drop = keras.layers.Dropout(rate)

    def call(self, x, training=None):
        gate = keras.layers.Dense(x.shape[-1], activation="sigmoid")(x)
        return self.drop(x * gate, training=training)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.block = GatedBlock()
        self.out = keras.layers.Dense(1)

    def call(self, x, training=None):
        return self.out(self.block(x, training=training))


x = tf.random.normal([128, 10])
net = Net()
net.compile("adam", "mse")
net.fit(x, x[:, :1], epochs=2, verbose=2)
