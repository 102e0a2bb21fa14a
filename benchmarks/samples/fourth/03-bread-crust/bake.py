"""Guess from the crust how long a loaf was in the oven."""
import hydra
import numpy as np
import tensorflow as tf
from hydra.utils import instantiate
from omegaconf import DictConfig

from crusts import crust_net


@hydra.main(version_base=None, config_path="conf", config_name="oven")
def main(cfg: DictConfig):
    tf.keras.utils.set_random_seed(cfg.seed)
    x = np.random.rand(cfg.loaves, 5).astype("float32") * cfg.steam.level
    model = crust_net(cfg.crust, cfg.rack)
    model.compile(instantiate(cfg.optimizer), "mse")
    log = model.fit(x, x[:, :1], epochs=cfg.rounds, verbose=0)
    print("loss", log.history["loss"])
    if cfg.get("shelf"):
        model.save_weights(cfg.shelf.path)


if __name__ == "__main__":
    main()
