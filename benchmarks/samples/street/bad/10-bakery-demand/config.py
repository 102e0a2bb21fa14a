from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    hidden: int = 64
    depth: int = 4
    epochs: int = 4
    batch_size: int = 32
    learning_rate: float = 1e-3
    debug: bool = True
