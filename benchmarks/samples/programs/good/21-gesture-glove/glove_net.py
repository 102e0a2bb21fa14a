import tensorflow as tf


class GloveNet(tf.keras.Model):

    def __init__(self, hyper):
        super().__init__()
        self.hyper = hyper
        self.frame_encoder = tf.keras.layers.Dense(12, activation="relu")
        self.smooth = tf.keras.layers.Conv1D(8, 3, padding="causal")
        self.out = tf.keras.layers.Dense(hyper["gestures"])

    def call(self, x):
        h = self.hyper
        # frames are encoded one by one, then put back in order
        flat = tf.reshape(x, [-1, h["sensors"]])
        flat = self.frame_encoder(flat)
        seq = tf.reshape(flat, [tf.shape(x)[0], h["frames"], 12])
        seq = self.smooth(seq)
        return self.out(tf.reduce_max(seq, axis=1))
