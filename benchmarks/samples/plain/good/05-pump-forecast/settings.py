from dataclasses import dataclass

import tensorflow as tf


@dataclass
class Settings:
    window: int = 24
    batch_size: int = 32
    epochs: int = 4
    learning_rate: float = 2e-3
    seed: int = 13


def setup(cfg):
    tf.keras.utils.set_random_seed(cfg.seed)
    return cfg
