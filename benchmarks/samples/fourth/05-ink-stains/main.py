"""Tell ink stains from coffee stains."""
import sys

import tensorflow as tf

from lib.config import cfg, setup


def network():
    return tf.keras.Sequential([
        tf.keras.layers.Conv2D(cfg.MODEL.BLOTS, 3, strides=cfg.MODEL.STRIDE, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(cfg.MODEL.CLASSES, activation=cfg.MODEL.LAST),
    ])


def main(path):
    setup(path)
    from lib import sheets, solver  # after setup: they read cfg

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(cfg.RUN.GPUS)])
    strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(cfg.RUN.GPUS)])
    tf.keras.utils.set_random_seed(cfg.RUN.SEED)
    with strategy.scope():
        model = network()
        model.compile(solver.get_solver(), loss=cfg.LOSS.NAME, metrics=["accuracy"])
    log = model.fit(sheets.load(), epochs=cfg.RUN.PASSES, callbacks=solver.get_callbacks(), verbose=0)
    print(cfg.RUN.NAME, "loss", log.history["loss"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cfgs/default.yml")
