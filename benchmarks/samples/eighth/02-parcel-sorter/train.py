import argparse
import json

import tensorflow as tf

from dataset import load_parcels
from model import build_model


def parse_args():
    parser = argparse.ArgumentParser(description="Sort parcels by their photo")
    parser.add_argument("-c", "--config", default="config.json")
    return parser.parse_args()


def main():
    args = parse_args()
    with open(args.config) as f:
        config = json.load(f)
    data_cfg, model_cfg, train_cfg = config["data"], config["model"], config["train"]
    tf.keras.utils.set_random_seed(config["seed"])

    images, labels = load_parcels(
        data_cfg["image_size"], data_cfg["channels"], data_cfg["class_names"], data_cfg["num_samples"]
    )
    cut = int(0.75 * len(images))

    model = build_model(data_cfg, model_cfg)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(train_cfg["learning_rate"]),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    stop_cfg = train_cfg["early_stopping"]
    history = model.fit(
        images[:cut],
        labels[:cut],
        validation_data=(images[cut:], labels[cut:]),
        batch_size=train_cfg["batch_size"],
        epochs=train_cfg["epochs"],
        callbacks=[
            tf.keras.callbacks.EarlyStopping(
                monitor=stop_cfg["monitor"], mode=stop_cfg["mode"], patience=stop_cfg["patience"]
            )
        ],
        verbose=0,
    )
    print(config["experiment"], "loss %.5f" % history.history["loss"][-1],
          "trainable", len(model.trainable_weights))


if __name__ == "__main__":
    main()
