import json
from pathlib import Path


class Config:
    SEED = 4
    EPOCHS = 3
    BATCH_SIZE = 64
    LEARNING_RATE = 1e-3
    HIDDEN = [32, 16]
    ACTIVATION = "relu"
    DROPOUT = 0.2
    CLASS_WEIGHT = None
    THRESHOLD = 0.5
    FEATURES = 9


def load(path):
    """Every key of every section becomes an attribute of Config, in capitals."""
    raw = json.loads(Path(path).read_text())
    for section in raw.values():
        for name, value in section.items():
            setattr(Config, name.upper(), value)
