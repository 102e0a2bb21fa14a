import argparse

import numpy as np
import tensorflow as tf

from config.defaults import get_cfg
from sky import build, night


def setup():
    p = argparse.ArgumentParser()
    p.add_argument("--config-file", default="config/dim.yaml")
    p.add_argument("opts", nargs=argparse.REMAINDER, help="KEY VALUE pairs, e.g. SOLVER.LR 0.1")
    args = p.parse_args()
    cfg = get_cfg()
    cfg.merge_from_file(args.config_file)
    cfg.merge_from_list(args.opts)
    cfg.freeze()
    return cfg


def main():
    cfg = setup()
    tf.keras.utils.set_random_seed(cfg.SEED)
    rng = np.random.default_rng(cfg.SEED)
    model = build(cfg)
    values = [cfg.SOLVER.LR * cfg.SOLVER.GAMMA ** i for i in range(len(cfg.SOLVER.STEPS) + 1)]
    schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay(list(cfg.SOLVER.STEPS), values)
    opt = {"adam": tf.keras.optimizers.Adam, "nadam": tf.keras.optimizers.Nadam}[cfg.SOLVER.NAME](schedule)
    model.compile(opt, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    for it in range(cfg.SOLVER.MAX_ITER):
        loss = model.train_on_batch(*night(cfg, rng))
    print("iter", it + 1, "loss", float(loss))


if __name__ == "__main__":
    main()
