import argparse

import tensorflow as tf
from box import Box

from shelf.detector import detector
from shelf.photos import pipelines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="shelf.yaml")
    parser.add_argument("--weights-out", default="/tmp/shelf.weights.h5")
    args = parser.parse_args()
    cfg = Box.from_yaml(filename=args.config)
    tf.keras.utils.set_random_seed(cfg.train.seed)

    train, val = pipelines(cfg.data)
    rate = cfg.train.learning_rate
    if cfg.train.schedule == "cosine":
        rate = tf.keras.optimizers.schedules.CosineDecay(rate, cfg.train.epochs * len(train))
    model = detector(cfg)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(rate),
        loss={"label": tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), "box": "huber"},
        loss_weights=cfg.train.loss_weights.to_dict(),
    )
    plateau = tf.keras.callbacks.ReduceLROnPlateau(**cfg.plateau)
    model.fit(train, validation_data=val, epochs=cfg.train.epochs, callbacks=[plateau], verbose=2)
    total, label_loss, box_loss = model.evaluate(val, verbose=0)
    print(f"label {label_loss:.4f} box {box_loss:.4f} together {total:.4f}")
    model.save_weights(args.weights_out)


if __name__ == "__main__":
    main()
