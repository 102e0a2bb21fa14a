import tensorflow as tf


class DiceLoss(tf.keras.losses.Loss):
    def __init__(self, smooth=1.0, name="dice"):
        super().__init__(name=name)
        self.smooth = smooth

    def call(self, y_true, y_pred):
        y_true = tf.cast(y_true, y_pred.dtype)
        axes = [1, 2, 3]
        inter = tf.reduce_sum(y_true * y_pred, axes)
        total = tf.reduce_sum(y_true + y_pred, axes)
        return 1.0 - (2.0 * inter + self.smooth) / (total + self.smooth)
