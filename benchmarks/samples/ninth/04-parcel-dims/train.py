"""Estimate length, width and height of a parcel from one depth image."""
import hydra
import numpy as np
import tensorflow as tf
from hydra.utils import call, instantiate
from omegaconf import DictConfig


def parcels(data):
    size = data.image_size
    dims = np.random.uniform(0.2, 1.0, (data.parcels, 3)).astype("float32")
    images = np.zeros((data.parcels, size, size, 1), "float32")
    for image, (length, width, height) in zip(images, dims):
        image[: int(length * size), : int(width * size)] = height
    return images, dims


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig) -> None:
    tf.keras.utils.set_random_seed(cfg.seed)
    images, dims = parcels(cfg.data)
    model = call(cfg.model)
    model.compile(instantiate(cfg.optim), loss="mse")
    plateau = tf.keras.callbacks.ReduceLROnPlateau(**cfg.train.plateau)
    history = model.fit(
        images,
        dims,
        epochs=cfg.train.epochs,
        batch_size=cfg.train.batch_size,
        validation_split=cfg.train.validation_split,
        callbacks=[plateau],
        verbose=0,
    )
    print("val_loss", round(history.history["val_loss"][-1], 5))
    if cfg.train.save_to:
        model.save(cfg.train.save_to)


if __name__ == "__main__":
    main()
