"""Train a small model on WAV files, set up by cfgfix.tf from a YAML file.

    python examples/train.py examples/train.yaml --demo
    python examples/train.py my.yaml path/to/wavs

The model guesses each mel frame from the frames before it. `--demo` makes its own short clips, so nothing need be downloaded.
"""

from __future__ import annotations

import argparse
import struct
import tempfile
from pathlib import Path

import numpy as np
import yaml

from cfgfix.tf import configure, verify


def demo_clips(folder: Path, count: int = 48, rate: int = 16000) -> None:
    """Write clips of one second: a tone that glides, 16 bits, mono."""
    random = np.random.default_rng(1)
    time = np.arange(rate) / rate
    for index in range(count):
        start, end = random.uniform(100, 2000, 2)
        tone = 0.4 * np.sin(2 * np.pi * (start * time + (end - start) * time**2 / 2))
        body = (tone * 32767).astype("<i2").tobytes()
        head = struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
        inside = b"WAVEfmt " + head + b"data" + struct.pack("<I", len(body)) + body
        (folder / f"{index:03}.wav").write_bytes(b"RIFF" + struct.pack("<I", len(inside)) + inside)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("wavs", type=Path, nargs="?")
    parser.add_argument("--demo", action="store_true", help="train on clips made here")
    parser.add_argument("--cache", type=Path, help="folder for features, kept between runs")
    options = parser.parse_args()

    # Before anything else that touches TensorFlow: threads, devices, precision, seed.
    applied = configure(options.config)
    print(applied)
    for check in verify():
        print("in force" if check.ok else "NOT in force", check.name, check.found)

    import tensorflow as tf

    from cfgfix.tf import (
        MelSettings,
        features_from_wav,
        keras_callback,
        optimize,
        precomputed,
        summarize,
        watch_data,
    )

    with tempfile.TemporaryDirectory() as scratch:
        folder = options.wavs or Path(scratch)
        if options.demo:
            demo_clips(folder)
        paths = sorted(folder.glob("*.wav"))
        settings = MelSettings.from_config(options.config, n_fft=1024)

        # The spectrograms are computed once; later runs with the same settings and files read them back.
        built = precomputed(
            lambda: features_from_wav(paths, settings, options.config),
            options.cache or Path(scratch) / "features",
            settings=settings.as_dict(),
            inputs=paths,
        )
        print(f"features: {built.records} clips, {built.reason}, {built.seconds:.2f} s")
        pairs = built.dataset().map(lambda row: (row["mel"][:-1], row["mel"][1:]))
        data = optimize(pairs, options.config, batch=True)
        print(summarize(data))
        data, clock = watch_data(data)

        model = tf.keras.Sequential(
            [
                tf.keras.layers.Input([None, settings.n_mels]),
                tf.keras.layers.Conv1D(64, 5, padding="causal", activation="relu"),
                tf.keras.layers.Dense(settings.n_mels, dtype="float32"),
            ]
        )
        training = yaml.safe_load(options.config.read_text(encoding="utf-8"))["training"]
        model.compile(tf.keras.optimizers.Adam(training["learning_rate"]), "mse", **applied.compile_options)
        watch = keras_callback(clock=clock, config=options.config, warmup=2)
        model.fit(data, epochs=training["epochs"], verbose=2, callbacks=[watch])
        print(watch.recorder.statistics())


if __name__ == "__main__":
    main()
