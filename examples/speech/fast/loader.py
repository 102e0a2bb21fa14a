"""The input pipeline: the same spectrograms in TensorFlow operations, in batches of like length, by cfgfix.tf."""

from __future__ import annotations

import os

import numpy as np
import tensorflow as tf
from config import Config

from cfgfix.tf import MelSettings, features_from_wav, optimize


def read_metadata(folder: str) -> tuple[list[str], list[str]]:
    """Return the paths and texts of a set."""
    paths, texts = [], []
    with open(os.path.join(folder, "metadata.csv"), encoding="utf-8") as stream:
        for line in stream:
            name, _, text = line.rstrip("\n").split("|")
            paths.append(os.path.join(folder, "wavs", name + ".wav"))
            texts.append(text)
    return paths, texts


def make_dataset(config: Config) -> tf.data.Dataset:
    """Return batches of text, mel and its length, padded to one of a few lengths."""
    data = config.data
    paths, texts = read_metadata(data.dataset_path)
    tokens = np.zeros((len(texts), data.max_text_length), np.int32)
    for row, text in zip(tokens, texts, strict=True):
        letters = [ord(letter) % 256 for letter in text[: data.max_text_length]]
        row[: len(letters)] = letters
    settings = MelSettings(
        sample_rate=data.sample_rate, hop_length=data.hop_length, n_mels=config.model.n_mels, scale="htk", norm=None, pad_mode="reflect"
    )  # fmt: skip
    features = features_from_wav(
        paths, settings, max_frames=data.mel_lengths[-1], too_long="cut", workers=data.num_workers
    )
    letters = tf.constant(tokens)

    def with_text(row: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        return {
            "text": tf.gather(letters, row["index"]),
            "mel": row["mel"],
            "mel_length": row["frames"],
        }

    return optimize(
        features.map(with_text),
        cache=data.cache,
        shuffle_buffer=data.shuffle_buffer,
        batch_size=data.batch_size,
        padded_shapes={
            "text": [data.max_text_length],
            "mel": [None, config.model.n_mels],
            "mel_length": [],
        },
        length="mel_length",
        lengths=data.mel_lengths,
        prefetch=data.prefetch,
    )
