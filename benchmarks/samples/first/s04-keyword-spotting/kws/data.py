import numpy as np
import tensorflow as tf


def spectrograms(settings, clips=24):
    rng = np.random.default_rng(3)
    wave = rng.normal(size=(clips, settings.samples)).astype("float32")
    wave += settings.noise * rng.normal(size=wave.shape).astype("float32")
    length, step = settings.frame
    spectrum = tf.abs(tf.signal.stft(wave, length, step))
    return spectrum.numpy(), rng.integers(0, settings.n_labels, clips)
