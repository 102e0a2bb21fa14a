"""The input pipeline: WAV files to log-mel spectrograms in NumPy, batch by batch."""

from __future__ import annotations

import os
import wave

import numpy as np
import tensorflow as tf
from config import Config

N_FFT = 1024


def read_metadata(folder: str) -> tuple[list[str], list[str]]:
    """Return the paths and texts of a set."""
    paths, texts = [], []
    with open(os.path.join(folder, "metadata.csv"), encoding="utf-8") as stream:
        for line in stream:
            name, _, text = line.rstrip("\n").split("|")
            paths.append(os.path.join(folder, "wavs", name + ".wav"))
            texts.append(text)
    return paths, texts


def read_wav(path: str) -> np.ndarray:
    """Return the samples from -1 to 1."""
    with wave.open(path, "rb") as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), dtype="<i2")
    return samples.astype(np.float32) / 32768.0


def mel_filters(sample_rate: int, n_mels: int) -> np.ndarray:
    """Return triangular filters, `[n_mels, bins]`."""
    top = 2595.0 * np.log10(1.0 + sample_rate / 2 / 700.0)
    edges = 700.0 * (10.0 ** (np.linspace(0.0, top, n_mels + 2) / 2595.0) - 1.0)
    bins = np.linspace(0.0, sample_rate / 2, N_FFT // 2 + 1)
    filters = np.zeros((n_mels, len(bins)), np.float32)
    for band in range(n_mels):
        low, middle, high = edges[band : band + 3]
        rising = (bins - low) / (middle - low)
        falling = (high - bins) / (high - middle)
        filters[band] = np.maximum(0.0, np.minimum(rising, falling))
    return filters


def log_mel(samples: np.ndarray, config: Config) -> np.ndarray:
    """Return the log-mel spectrogram, `[frames, n_mels]`."""
    hop = config.data.hop_length
    padded = np.pad(samples, N_FFT // 2, mode="reflect")
    window = np.hanning(N_FFT + 1)[:-1]
    filters = mel_filters(config.data.sample_rate, config.model.n_mels)
    rows = []
    for start in range(0, len(padded) - N_FFT + 1, hop):
        spectrum = np.abs(np.fft.rfft(padded[start : start + N_FFT] * window))
        rows.append(np.log(np.maximum(filters @ spectrum, 1e-5)))
    return np.stack(rows).astype(np.float32)


def make_dataset(config: Config) -> tf.data.Dataset:
    """Return batches of text, mel and their lengths, each as long as its longest clip."""
    paths, texts = read_metadata(config.data.dataset_path)

    def load(path: bytes, text: bytes) -> tuple[np.ndarray, np.ndarray, np.int32]:
        mel = log_mel(read_wav(path.decode()), config)
        tokens = np.array([ord(letter) % 256 for letter in text.decode()], np.int32)
        return tokens, mel, np.int32(len(mel))

    def load_tensors(path: tf.Tensor, text: tf.Tensor) -> dict[str, tf.Tensor]:
        tokens, mel, length = tf.numpy_function(load, [path, text], [tf.int32, tf.float32, tf.int32])
        tokens.set_shape([None])
        mel.set_shape([None, config.model.n_mels])
        length.set_shape([])
        return {"text": tokens, "mel": mel, "mel_length": length}

    dataset = tf.data.Dataset.from_tensor_slices((paths, texts))
    dataset = dataset.map(load_tensors, num_parallel_calls=config.data.num_workers)
    dataset = dataset.shuffle(config.data.shuffle_buffer)
    dataset = dataset.padded_batch(
        config.data.batch_size, {"text": [None], "mel": [None, config.model.n_mels], "mel_length": []}
    )
    return dataset.prefetch(100)
