"""Train a small model on WAV files, set up by cfgfix.tf from a YAML file.

    python examples/train.py examples/train.yaml --demo
    python examples/train.py my.yaml path/to/wavs --features path/to/cache

The model guesses each mel frame from the frames before it. `--demo` makes its own short clips.
"""

from __future__ import annotations

import argparse
import struct
import tempfile
from pathlib import Path

import numpy as np
import yaml

from cfgfix.tf import configure, read_concepts, verify


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
    """Train."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", type=Path)
    parser.add_argument("wavs", type=Path, nargs="?")
    parser.add_argument("--demo", action="store_true", help="train on clips made here")
    parser.add_argument("--features", type=Path, help="folder for features, kept between runs")
    options = parser.parse_args()
    if options.wavs is None and not options.demo:
        parser.error("name a folder of WAV files, or --demo")

    # Read as `cfgfix check` reads it. The table tells which key means what; a key that is not in it is yours alone.
    config = read_concepts(options.config)
    print(config, end="\n\n")

    # First of all that touches TensorFlow: threads, devices, precision, seed. Then ask TensorFlow whether it is so.
    applied = configure(config)
    print(applied)
    for check in verify():
        print("in force" if check.ok else "NOT in force", f"{check.name}: {check.found}")

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
        settings = MelSettings.from_config(config, n_fft=1024)

        # Spectrograms are computed once; a later run with the same settings and files reads them back.
        built = precomputed(
            lambda: features_from_wav(paths, settings, config),
            options.features or Path(scratch) / "features",
            settings=settings.as_dict(),
            inputs=paths,
        )
        print(f"\n{built.records} clips in {built.seconds:.2f} s: {built.reason}\n")

        pairs = built.dataset().map(lambda row: (row["mel"][:-1], row["mel"][1:]))
        data = optimize(pairs, config, batch=True)
        print(summarize(data), end="\n\n")
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
        watch = keras_callback(clock=clock, config=config)
        history = model.fit(data, epochs=training["epochs"], verbose=0, shuffle=False, callbacks=[watch])
        losses = history.history["loss"]
        print(f"loss {losses[0]:.2f} -> {losses[-1]:.2f}\n")
        print(watch.recorder.statistics())


if __name__ == "__main__":
    main()
