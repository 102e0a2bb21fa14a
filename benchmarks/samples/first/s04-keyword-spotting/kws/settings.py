"""One object that knows the configuration file."""
from functools import cached_property
from pathlib import Path

import yaml
from tensorflow import keras


class Settings:
    def __init__(self, path):
        self._tree = yaml.safe_load(Path(path).read_text(encoding="utf-8"))

    @property
    def samples(self):
        audio = self._tree["audio"]
        return int(audio["sample_rate"] * audio["clip_seconds"])

    @property
    def frame(self):
        return self._tree["audio"]["frame_length"], self._tree["audio"]["frame_step"]

    @property
    def n_labels(self):
        return len(self._tree["labels"])

    @property
    def noise(self):
        return self._tree["training"].get("noise", 0.0)

    @property
    def warmup(self):
        return self._tree["training"]["warmup_epochs"]

    @property
    def loop(self):
        return {key: self._tree["training"][key] for key in ("epochs", "batch_size")}

    @cached_property
    def optimizer(self):
        section = self._tree["optimizer"]
        return getattr(keras.optimizers, section["name"])(learning_rate=section["rate"])
