import tensorflow as tf


class PlanktonNet(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.conv = tf.keras.layers.Conv2D(12, 3, padding="same", use_bias=False)
        self.bn = tf.keras.layers.BatchNormalization(momentum=0.8)
        self.pool = tf.keras.layers.GlobalAveragePooling2D()
        self.drop = tf.keras.layers.Dropout(0.2)
        self.out = tf.keras.layers.Dense(classes)

    def call(self, x, training=False):
        x = tf.nn.relu(self.bn(self.conv(x), training=training))
        return self.out(self.drop(self.pool(x), training=training))
