"""Settings as dataclasses, filled from settings.json."""
import dataclasses
import json
from dataclasses import dataclass, field


@dataclass
class Roll:
    pitches: int = 88
    steps: int = 32
    songs: int = 64
    batch_size: int = 16
    velocity: bool = False


@dataclass
class Net:
    hidden: int = 64
    layers: int = 1
    dropout: float = 0.0
    l2: float = 0.0


@dataclass
class Fit:
    epochs: int = 1
    rate: float = 1e-3
    grad_clip: float = 0.5
    seed: int = 0
    log_steps: int = 50
    sample_every: int = 5


@dataclass
class Settings:
    roll: Roll = field(default_factory=Roll)
    net: Net = field(default_factory=Net)
    fit: Fit = field(default_factory=Fit)

    @classmethod
    def from_json(cls, path):
        with open(path) as fh:
            raw = json.load(fh)
        parts = {}
        for f in dataclasses.fields(cls):
            part_cls = f.default_factory
            known = {p.name for p in dataclasses.fields(part_cls)}
            given = {k: v for k, v in raw.get(f.name, {}).items() if k in known}
            parts[f.name] = part_cls(**given)
        return cls(**parts)
