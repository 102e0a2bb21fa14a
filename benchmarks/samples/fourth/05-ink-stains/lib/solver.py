import tensorflow as tf

from lib.config import cfg


def get_solver():
    rate = tf.keras.optimizers.schedules.ExponentialDecay(
        cfg.SOLVER.LR, decay_steps=cfg.SOLVER.STEPS_DECAY, decay_rate=cfg.SOLVER.GAMMA)
    if cfg.SOLVER.KIND == "adam":
        return tf.keras.optimizers.Adam(rate)
    return tf.keras.optimizers.SGD(rate, momentum=cfg.SOLVER.MOMENTUM)


def get_callbacks():
    found = [tf.keras.callbacks.TerminateOnNaN()]
    if "PLATEAU" in cfg.SOLVER:
        found.append(tf.keras.callbacks.ReduceLROnPlateau(
            monitor="loss", factor=cfg.SOLVER.PLATEAU.FACTOR, patience=cfg.SOLVER.PLATEAU.PATIENCE))
    return found
