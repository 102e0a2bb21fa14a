"""Segment cells with a U-Net."""
import hydra
import numpy as np
import tensorflow as tf
from hydra.utils import instantiate
from omegaconf import DictConfig

from unet import build_unet


def make_tiles(n, tile, channels):
    yy, xx = np.mgrid[:tile, :tile]
    rng = np.random.default_rng(5)
    centres = rng.uniform(10, tile - 10, (n, 2))
    masks = np.stack([((yy - a) ** 2 + (xx - b) ** 2 < 64) for a, b in centres])[..., None]
    images = masks + rng.normal(0, 0.3, masks.shape[:-1] + (channels,))
    return images.astype("float32"), masks.astype("float32")


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    tf.keras.utils.set_random_seed(cfg.seed)
    tf.keras.mixed_precision.set_global_policy(cfg.trainer.precision)

    images, masks = make_tiles(cfg.data.num_tiles, cfg.data.tile, cfg.data.channels)
    model = build_unet(images.shape[1:], cfg.model)
    model.compile(optimizer=instantiate(cfg.optim), loss=instantiate(cfg.loss))
    history = model.fit(
        images,
        masks,
        batch_size=cfg.trainer.batch_size,
        epochs=cfg.trainer.max_epochs,
        validation_split=cfg.data.val_fraction,
        callbacks=[instantiate(c) for c in cfg.callbacks],
        verbose=0,
    )
    print("loss %.6f" % history.history["loss"][-1], "mean %.3f" % float(np.mean(model.predict(images[:2], verbose=0))))


if __name__ == "__main__":
    main()
