"""Train on one or several devices: python train.py [debug|cluster]"""
import sys

import tensorflow as tf
import yaml

from signs import build, load_signs


def make_strategy(n):
    """Several logical CPUs stand in for the cards of the cluster."""
    if n == 1:
        return tf.distribute.get_strategy()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * n)
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(n)])


def main(section):
    with open("config.yml") as f:
        cfg = yaml.safe_load(f)[section]
    strategy = make_strategy(cfg.get("devices", 1))
    replicas = strategy.num_replicas_in_sync
    tf.keras.utils.set_random_seed(cfg["seed"])

    if cfg["batch_size"] % replicas:
        raise ValueError(f"batch size {cfg['batch_size']} does not divide among {replicas} replicas")
    x, y = load_signs(cfg["samples"], cfg["image"], cfg["classes"])
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.batch(cfg["batch_size"], drop_remainder=cfg.get("drop_remainder", False))

    opt = dict(cfg["optimizer"])
    if cfg.get("scale_lr"):
        opt["learning_rate"] *= replicas
    with strategy.scope():
        model = build(cfg["image"], len(cfg["classes"]))
        optimizer = getattr(tf.keras.optimizers, opt.pop("name"))(**opt)
        model.compile(
            optimizer=optimizer,
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
            steps_per_execution=cfg.get("steps_per_execution", 1),
        )
    callbacks = []
    if "checkpoint" in cfg:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(cfg["checkpoint"]))
    history = model.fit(ds, validation_data=ds, epochs=cfg["epochs"], callbacks=callbacks, verbose=1 if cfg.get("log", True) else 0)
    print(section, "epochs", len(history.epoch), "loss %.5f" % history.history["loss"][-1])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "debug")
