import math

import tensorflow as tf

FS = 400


def mel_matrix(bins=12, n_fft=128):
    return tf.signal.linear_to_mel_weight_matrix(bins, n_fft // 2 + 1, FS, 10.0, FS / 2)


MEL = mel_matrix()


def log_mel(wave, n_fft=128, hop=64):
    spec = tf.abs(tf.signal.stft(wave, n_fft, hop))
    return tf.math.log(tf.matmul(spec, MEL) + 1e-6)


def tone(hz, seconds=2.0):
    t = tf.range(0.0, seconds, 1.0 / FS)
    return tf.sin(2 * math.pi * hz * t)
