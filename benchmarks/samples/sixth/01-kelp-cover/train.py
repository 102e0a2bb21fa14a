import argparse
import os

import tensorflow as tf
import yaml

from kelp.data import make_splits
from kelp.model import build_unet


def parse_args():
    p = argparse.ArgumentParser(description="Kelp canopy segmentation")
    p.add_argument("--config", default="configs/default.yaml")
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=None)
    p.add_argument("--batch_size", type=int)
    p.add_argument("--out", default=None, help="where to keep the weights")
    return p.parse_args()


def main():
    args = parse_args()
    with open(args.config) as f:
        cfg = yaml.safe_load(f)

    cfg["train"]["epochs"] = args.epochs
    if args.lr is not None:
        cfg["train"]["lr"] = args.lr
    if args.batch_size:
        cfg["data"]["batch_size"] = args.batch_size

    tf.keras.utils.set_random_seed(7)
    train_ds, val_ds = make_splits(cfg["data"])
    model = build_unet(cfg["data"]["chip_size"], cfg["data"]["channels"], **cfg["model"])

    t = cfg["train"]
    optimizer = tf.keras.optimizers.AdamW(learning_rate=float(t["lr"]), weight_decay=t["weight_decay"])
    model.compile(optimizer=optimizer, loss="binary_crossentropy",
                  metrics=["accuracy", tf.keras.metrics.BinaryIoU(name="miou")])
    stop = tf.keras.callbacks.EarlyStopping(**t["early_stopping"], restore_best_weights=True)
    history = model.fit(train_ds, validation_data=val_ds, epochs=t["epochs"], callbacks=[stop], verbose=0)

    print("epochs run:", len(history.history["loss"]))
    print("final:", {k: round(v[-1], 4) for k, v in history.history.items()})
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        model.save_weights(os.path.join(args.out, "kelp.weights.h5"))


if __name__ == "__main__":
    main()
