import numpy as np
import tensorflow as tf

FRAMES, BINS = 20, 33


def _spectrogram(wave):
    frames = wave[: FRAMES * 64].reshape(FRAMES, 64)
    return np.abs(np.fft.rfft(frames, axis=1)).astype(np.float32)


def to_example(wave, label):
    spec = tf.numpy_function(_spectrogram, [wave], tf.float32)
    spec = tf.math.log1p(spec)
    return spec, label


def dataset(waves, labels, batch=16):
    ds = tf.data.Dataset.from_tensor_slices((waves, labels))
    return ds.shuffle(256).map(to_example, num_parallel_calls=tf.data.AUTOTUNE).batch(batch).prefetch(tf.data.AUTOTUNE)
