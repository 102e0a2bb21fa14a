import tensorflow as tf
from tensorflow.keras import layers


def load(cfg, subset, seed):
    return tf.keras.utils.image_dataset_from_directory(
        cfg["train_dir"],
        labels="inferred",
        label_mode=cfg["label_mode"],
        color_mode=cfg["color_mode"],
        image_size=tuple(cfg["image_size"]),
        interpolation=cfg["interpolation"],
        batch_size=cfg["batch"],
        validation_split=cfg["val_split"],
        subset=subset,
        seed=seed,
        verbose=False,
    )


def augmentation(cfg, seed):
    return tf.keras.Sequential([
        layers.RandomFlip(cfg["flip"], seed=seed),
        layers.RandomRotation(cfg["rotation"], seed=seed),
        layers.RandomZoom(cfg["zoom"], seed=seed),
    ])
