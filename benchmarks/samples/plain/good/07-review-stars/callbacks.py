import tensorflow as tf


class ValidationCurve(tf.keras.callbacks.Callback):
    """Keeps a curve of the validation loss for the report."""

    def __init__(self, val_ds):
        super().__init__()
        self.val_ds = val_ds
        self.curve = []

    def on_epoch_end(self, epoch, logs=None):
        scores = self.model.evaluate(self.val_ds, verbose=0, return_dict=True)
        self.curve.append(scores["loss"])
