import attrs
import yaml
from attrs import define, field, validators


@define
class Data:
    plots: int
    bands: int
    target: str
    min_height: float = 1.0


@define
class Network:
    units: list
    activation: str = "relu"
    kernel_init: str = "glorot_uniform"
    dropout: float = 0.0


@define
class Training:
    folds: int = 5
    epochs: int = 10
    batch_size: int = 32
    learning_rate: float = field(default=1e-3, converter=float)
    weight_decay: float = field(default=0.0, validator=validators.instance_of(float))
    patience: int = 3


@define
class Settings:
    data: Data
    network: Network
    training: Training


def from_yaml(path):
    with open(path) as fh:
        raw = yaml.safe_load(fh)
    return Settings(**{f.name: f.type(**raw[f.name]) for f in attrs.fields(Settings)})
