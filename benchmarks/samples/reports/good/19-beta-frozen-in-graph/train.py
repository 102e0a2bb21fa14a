import numpy as np
import tensorflow as tf

from vae import VAE


class WarmUp(tf.keras.callbacks.Callback):
    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta.assign(min(1.0, epoch / self.epochs))


spectra = np.random.randn(256, 10).astype("float32") * 2
vae = VAE()
vae.compile(optimizer=tf.keras.optimizers.Adam(1e-2))
vae.fit(spectra, epochs=5, batch_size=64, callbacks=[WarmUp(3)], verbose=2)
