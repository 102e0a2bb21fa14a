"""Make an LJSpeech-style set spoken by espeak-ng: metadata.csv and wavs/, 16-bit mono at 22,050 samples per second.

    python examples/speech/make_speech.py examples/speech/data --clips 96

The sentences are put together from a fixed list with a fixed seed, so the set is the same everywhere the same espeak-ng is.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SUBJECTS = ["The printer", "A careful reader", "The old harbour", "Every second letter", "The night train", "Her brother", "The committee", "A narrow road"]  # fmt: skip
VERBS = ["remembered", "had carried", "described", "would not leave", "measured", "followed", "kept", "painted"]  # fmt: skip
OBJECTS = ["the long winter of that year", "three boxes of paper", "a map without names", "the sound of the river", "what the clock had shown", "all of the lower windows"]  # fmt: skip
ENDINGS = ["before the morning came", "and said nothing of it", "although nobody had asked", "in a hand that few could read", "until the last of the lamps went out", "on the way to the station, where the others were waiting for news of the bridge"]  # fmt: skip
VOICES = ["en-us", "en-gb", "en-gb-scotland"]


def sentences(count: int) -> list[str]:
    """Return so many sentences of different lengths, the same ones every time."""
    chance = random.Random(7)  # noqa: S311 - words, no secrets
    made = []
    for _ in range(count):
        parts = [
            f"{chance.choice(SUBJECTS)} {chance.choice(VERBS)} {chance.choice(OBJECTS)}"
            for _ in range(chance.choice([1, 1, 2]))
        ]
        made.append(f"{', and '.join(parts)} {chance.choice(ENDINGS)}.")
    return made


def make(folder: Path, clips: int) -> Path:
    """Speak the set into a folder, unless it is there already.

    Raises:
        SystemExit: espeak-ng is not installed, or fails.
    """
    program = shutil.which("espeak-ng")
    if program is None:
        sys.exit("espeak-ng is needed to speak the set: apt-get install espeak-ng, brew install espeak-ng")
    texts = sentences(clips)
    rows = [f"clip{number:04}|{text}|{text}" for number, text in enumerate(texts)]
    table = folder / "metadata.csv"
    if table.exists() and table.read_text(encoding="utf-8").splitlines() == rows:
        return folder
    (folder / "wavs").mkdir(parents=True, exist_ok=True)

    def speak(number: int) -> None:
        subprocess.run(  # noqa: S603 - a program that was looked up, with texts from above
            [program, "-v", VOICES[number % len(VOICES)], "-s", str(140 + 10 * (number % 4)), "-w", str(folder / "wavs" / f"clip{number:04}.wav"), texts[number]],
            check=True,
            capture_output=True,
        )  # fmt: skip

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(speak, range(clips)))
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clips", type=int, default=96)
    options = parser.parse_args()
    print(make(options.folder, options.clips))
