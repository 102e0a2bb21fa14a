import sys

import tensorflow as tf

from trainer import Trainer
from utils import load_config

if __name__ == "__main__":
    cfg = load_config(sys.argv[1] if len(sys.argv) > 1 else "cfgs/lots.yaml")
    tf.keras.utils.set_random_seed(1)
    trainer = Trainer(cfg)
    trainer.fit()
    trainer.evaluate()
