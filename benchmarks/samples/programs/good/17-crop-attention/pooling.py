import tensorflow as tf
from tensorflow.keras.layers import Layer


class AttentionPooling(Layer):
    """
    Weighted mean over the time axis (Raffel & Ellis style).
    """

    def __init__(self, **kwargs):
        super(AttentionPooling, self).__init__(**kwargs)

    def build(self, input_shape):
        steps, dim = input_shape[1], input_shape[-1]
        self.W = self.add_weight(name="att_weight", shape=(dim, 1), initializer="glorot_uniform")
        self.b = self.add_weight(name="att_bias", shape=(steps, 1), initializer="zeros")
        super(AttentionPooling, self).build(input_shape)

    def call(self, x):
        e = tf.tanh(tf.matmul(x, self.W) + self.b)
        a = tf.nn.softmax(e, axis=1)
        return tf.reduce_sum(x * a, axis=1)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[-1])
