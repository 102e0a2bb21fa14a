import keras
from keras import ops


@keras.saving.register_keras_serializable("masks")
class DiceLoss(keras.losses.Loss):
    def __init__(self, smooth=1.0, name="dice_loss"):
        super().__init__(name=name)
        self.smooth = smooth

    def call(self, y_true, y_pred):
        y_true = ops.cast(y_true, y_pred.dtype)
        both = ops.sum(y_true * y_pred, axis=(1, 2, 3))
        total = ops.sum(y_true, axis=(1, 2, 3)) + ops.sum(y_pred, axis=(1, 2, 3))
        return 1.0 - (2.0 * both + self.smooth) / (total + self.smooth)


def dice_coef(y_true, y_pred):
    hard = ops.cast(y_pred > 0.5, "float32")
    both = ops.sum(y_true * hard)
    return (2.0 * both + 1.0) / (ops.sum(y_true) + ops.sum(hard) + 1.0)
