from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import List, Optional

import numpy as np
import tensorflow as tf
from omegaconf import MISSING, OmegaConf


@dataclass
class Beam:
    sensors: int = 4
    length: float = MISSING
    hertz: float = 50.0
    window: int = 10


@dataclass
class Fit:
    epochs: int = 1
    rate: float = 1e-2
    batch: int = 8
    warm_steps: int = 0
    widths: List[int] = field(default_factory=lambda: [8])
    clip: Optional[float] = None


@dataclass
class Settings:
    beam: Beam = field(default_factory=Beam)
    fit: Fit = field(default_factory=Fit)
    out: str = "/tmp/bridge.keras"
    config: str = "bridge.yaml"


def vibrations(beam):
    t = np.arange(beam.window) / beam.hertz
    phase = np.random.rand(30, 1, beam.sensors) * beam.length
    x = np.sin(2 * np.pi * t[None, :, None] + phase).astype("float32")
    return x, phase.mean(axis=(1, 2)).astype("float32")


def warm(rate, steps):
    if not steps:
        return rate
    return tf.keras.optimizers.schedules.PolynomialDecay(rate / 10, steps, rate)


def main():
    cli = OmegaConf.from_cli(sys.argv[1:])
    base = OmegaConf.structured(Settings)
    cfg = OmegaConf.merge(base, OmegaConf.load(cli.get("config", "bridge.yaml")), cli)
    fit = cfg.fit
    tf.keras.utils.set_random_seed(1)
    x, y = vibrations(cfg.beam)
    layers = [tf.keras.Input(x.shape[1:]), tf.keras.layers.Flatten()]
    layers += [tf.keras.layers.Dense(w, activation="relu") for w in fit.widths]
    model = tf.keras.Sequential(layers + [tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(warm(fit.rate, fit.warm_steps), clipvalue=fit.clip), "mse")
    log = model.fit(x, y, batch_size=fit.batch, epochs=fit.epochs, verbose=0)
    model.save(cfg.out)
    print(OmegaConf.to_yaml(cfg.fit), "loss", round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    main()
