"""One Sheet for the whole program; `sheet.brain.cells` and `sheet["brain"]["cells"]` both work."""
import os
from pathlib import Path

import yaml


class Sheet:
    def __init__(self, **entries):
        for key, value in entries.items():
            setattr(self, key, Sheet(**value) if isinstance(value, dict) else value)

    def __getitem__(self, key):
        return getattr(self, key)

    def get(self, key, default=None):
        return getattr(self, key, default)

    @classmethod
    def read(cls, path=None):
        path = Path(path or os.getenv("MICE_SHEET", "quiet.yaml"))
        with path.open() as stream:
            return cls(**yaml.safe_load(stream))
