import os
import numpy as np
import tensorflow as tf


class FitTable(tf.keras.callbacks.Callback):
    """Predicted against measured plasticity, for the plots in the appendix."""

    def __init__(self, x, y, folder):
        super().__init__()
        self.x, self.y, self.folder = x, y, folder

    def on_train_batch_end(self, batch, logs=None):
        pred = self.model.predict(self.x, batch_size=512, verbose=0)
        table = np.concatenate([self.y, pred], axis=1)
        np.savetxt(os.path.join(self.folder, "fit.csv"), table, delimiter=",", header="measured,predicted")


class LossLog(tf.keras.callbacks.Callback):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def on_train_begin(self, logs=None):
        self.f = open(self.path, "w")

    def on_epoch_end(self, epoch, logs=None):
        print(epoch, logs, file=self.f, flush=True)

    def on_train_end(self, logs=None):
        self.f.close()
