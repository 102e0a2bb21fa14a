"""Helpers shared by the training and the test script."""
import os

import numpy as np
import tensorflow as tf
import yaml


def yaml_load(path="baseline.yaml"):
    with open(path) as stream:
        param = yaml.safe_load(stream)
    return param


def record_dummy_machine(directory, sample_rate, seconds=1, n_files=4):
    """Write a few recordings of a fan, so that the script runs out of the box."""
    os.makedirs(directory, exist_ok=True)
    rng = np.random.default_rng(0)
    t = np.arange(sample_rate * seconds) / sample_rate
    for i in range(n_files):
        wave = np.sin(2 * np.pi * (100 + 10 * i) * t) + 0.1 * rng.standard_normal(t.shape)
        np.save(os.path.join(directory, f"normal_{i:02d}.npy"), wave.astype("float32"))


def file_to_vectors(path, sample_rate, n_mels, frames, n_fft, hop_length, power, fmin, fmax):
    """Log mel spectrogram of one file, `frames` consecutive frames in a row."""
    y = np.load(path)
    spec = tf.abs(tf.signal.stft(y, frame_length=n_fft, frame_step=hop_length)) ** power
    mel = tf.signal.linear_to_mel_weight_matrix(
        num_mel_bins=n_mels,
        num_spectrogram_bins=spec.shape[-1],
        sample_rate=sample_rate,
        lower_edge_hertz=fmin,
        upper_edge_hertz=fmax,
    )
    log_mel = tf.math.log(tf.matmul(spec, mel) + 1e-6).numpy()
    n_vectors = len(log_mel) - frames + 1
    return np.concatenate([log_mel[t : t + n_vectors] for t in range(frames)], axis=1)
