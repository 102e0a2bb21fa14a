"""python train.py day | python train.py night --epochs 5"""
import argparse
import importlib

import tensorflow as tf

import lights


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config", help="name of a module in configs/")
    parser.add_argument("--epochs", type=int, default=None)
    args = parser.parse_args()

    cfg = importlib.import_module(f"configs.{args.config}")
    tf.keras.utils.set_random_seed(cfg.seed)
    train_ds, val_ds = lights.make_datasets(cfg.data, cfg.seed)
    model = lights.MODELS[cfg.model["kind"]](side=cfg.data["side"], **cfg.model["args"])
    optimizer = getattr(tf.keras.optimizers, cfg.optimizer["name"])(**cfg.optimizer["args"])
    model.compile(
        optimizer=optimizer,
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    epochs = args.epochs or cfg.epochs
    keep = tf.keras.callbacks.ModelCheckpoint(
        f"/tmp/lights-{args.config}.keras", monitor="val_accuracy", mode="max", save_best_only=True)
    model.fit(train_ds, validation_data=val_ds, epochs=epochs, callbacks=[keep], verbose=2)


if __name__ == "__main__":
    main()
