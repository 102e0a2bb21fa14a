"""A speech pipeline of TensorFlow operations over an LJSpeech-style folder, so that there is something real to measure at once.

The folder holds `metadata.csv` (name|text or name|text|normalised text, UTF-8) and the 16-bit WAV files, in `wavs/` or beside it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cfgfix.core.errors import CfgfixError, ExitCode

MAX_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    """How the pipeline is built. -1 leaves a number to tf.data."""

    batch_size: int = 16
    workers: int = -1
    prefetch: int = -1
    cache: bool = False
    shuffle: int = 0
    sample_rate: int = 22050
    mels: int = 80
    max_frames: int = 800
    max_text: int = 200
    hop: int = 256
    window: int = 1024


def settings_from(options: Mapping[str, Any]) -> Settings:
    """Return the settings that a job's options hold under `speech`."""
    names = Settings.__dataclass_fields__
    return Settings(**{name: value for name, value in options.get("speech", {}).items() if name in names})


def read_rows(folder: str) -> list[tuple[str, str]]:
    """Return the WAV path and the text of each utterance in a speech folder.

    Raises:
        CfgfixError: The folder is not of that form.
    """
    path = os.path.join(folder, "metadata.csv")
    try:
        with open(path, encoding="utf-8-sig") as stream:
            lines = stream.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CfgfixError(
            f"cannot be read: {reason}",
            code=ExitCode.UNREADABLE,
            path=path,
            hint="an LJSpeech-style folder has metadata.csv and wavs/; for other data use --dataset",
        ) from error
    places = [os.path.join(folder, "wavs"), folder]
    rows = []
    missing = 0
    for line in lines[:MAX_ROWS]:
        parts = line.split("|")
        name = parts[0].strip()
        if len(parts) < 2 or not name:
            continue
        name = name if name.lower().endswith(".wav") else name + ".wav"
        found = next((full for place in places if os.path.isfile(full := os.path.join(place, name))), None)
        if found is None:
            missing += 1
        else:
            rows.append((found, parts[-1].strip() or parts[1].strip()))
    if not rows:
        reason = (
            f"none of its {missing} WAV files is there" if missing else "has no line of the form name|text"
        )
        raise CfgfixError(
            reason,
            code=ExitCode.UNREADABLE,
            path=path,
            hint="WAV files are looked for in wavs/ and beside metadata.csv",
        )
    return rows


def make_dataset(folder: str, settings: Settings | None = None) -> Any:
    """Return a dataset of padded batches of token ids, spectrograms and lengths.

    All shapes are fixed.

    Raises:
        CfgfixError: The folder is not an LJSpeech-style folder.
    """
    import tensorflow as tf

    use = settings or Settings()
    rows = read_rows(folder)
    names = [name for name, _ in rows]
    texts = [text for _, text in rows]
    matrix = tf.signal.linear_to_mel_weight_matrix(
        use.mels, use.window // 2 + 1, use.sample_rate, 0.0, use.sample_rate / 2
    )

    def load(name: Any, text: Any) -> dict[str, Any]:
        audio, _ = tf.audio.decode_wav(tf.io.read_file(name), desired_channels=1)
        frames = tf.signal.stft(audio[:, 0], use.window, use.hop, pad_end=True)
        mel = tf.math.log(tf.maximum(tf.matmul(tf.abs(frames), matrix), 1e-5))[: use.max_frames]
        tokens = tf.cast(tf.strings.unicode_decode(text, "UTF-8"), tf.int32)[: use.max_text]
        length, count = tf.shape(mel)[0], tf.shape(tokens)[0]
        mel = tf.pad(mel, [[0, use.max_frames - length], [0, 0]])
        tokens = tf.pad(tokens, [[0, use.max_text - count]])
        mel.set_shape([use.max_frames, use.mels])
        tokens.set_shape([use.max_text])
        return {"text": tokens, "text_length": count, "mel": mel, "mel_length": length}

    dataset = tf.data.Dataset.from_tensor_slices((names, texts))
    if use.shuffle:
        dataset = dataset.shuffle(use.shuffle)
    dataset = dataset.map(load, num_parallel_calls=None if use.workers == 0 else use.workers)
    if use.cache:
        dataset = dataset.cache()
    dataset = dataset.batch(use.batch_size, drop_remainder=len(rows) >= use.batch_size)
    return dataset.prefetch(use.prefetch) if use.prefetch else dataset


def make_step(settings: Settings | None = None) -> tuple[Any, Any, Any]:
    """Return a small convolutional model from text to mel, its loss and its optimizer.

    They take the batches of `make_dataset`. The model reads the batch's mel shape through its text alone, so it
    trains on anything; its cost, not its sound, matters.
    """
    import tensorflow as tf

    use = settings or Settings()
    keras = tf.keras

    def resize(hidden: Any) -> Any:
        return tf.image.resize(hidden[:, :, None, :], (use.max_frames, 1))[:, :, 0, :]

    text = keras.Input((use.max_text,), dtype="int32", name="text")
    hidden = keras.layers.Embedding(512, 128)(keras.layers.Lambda(lambda value: value % 512)(text))
    hidden = keras.layers.Conv1D(128, 5, padding="same", activation="relu")(hidden)
    hidden = keras.layers.Lambda(resize, output_shape=(use.max_frames, 128))(hidden)
    hidden = keras.layers.Conv1D(128, 5, padding="same", activation="relu")(hidden)
    model = keras.Model(text, keras.layers.Dense(use.mels, dtype="float32")(hidden))

    def loss(batch: Any, output: Any) -> Any:
        mask = tf.sequence_mask(batch["mel_length"], use.max_frames, dtype=tf.float32)[:, :, None]
        error = tf.square(tf.cast(output, tf.float32) - batch["mel"]) * mask
        return tf.reduce_sum(error) / tf.maximum(tf.reduce_sum(mask) * use.mels, 1.0)

    return model, loss, keras.optimizers.Adam(1e-3)


__all__ = ["Settings", "make_dataset", "make_step", "read_rows", "settings_from"]
