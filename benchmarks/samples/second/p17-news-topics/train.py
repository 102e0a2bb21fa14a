"""python train.py model.filters=4 trainer.batch=8"""
import sys
from pathlib import Path

import keras
import numpy as np
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate


def main(overrides):
    conf = Path(__file__).resolve().parent / "conf"
    with initialize_config_dir(config_dir=str(conf), version_base="1.3"):
        cfg = compose("config", overrides=overrides)
    keras.utils.set_random_seed(17)
    rng = np.random.default_rng(17)
    x = rng.integers(0, cfg.data.vocab, (48, cfg.data.max_len))
    y = rng.integers(0, cfg.data.topics, 48)
    net = instantiate(cfg.model)
    net.compile(instantiate(cfg.optim), "sparse_categorical_crossentropy")
    log = net.fit(x, y, batch_size=cfg.trainer.batch, epochs=cfg.trainer.max_epochs, verbose=0)
    print("loss", log.history["loss"])


if __name__ == "__main__":
    main(sys.argv[1:])
