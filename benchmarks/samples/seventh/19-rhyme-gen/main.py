import json
import sys

import tensorflow as tf

from rhyme.trainer import Trainer

if __name__ == "__main__":
    with open(sys.argv[1] if len(sys.argv) > 1 else "rhyme.json") as fh:
        cfg = json.load(fh)
    tf.keras.utils.set_random_seed(cfg["run"]["seed"])
    trainer = Trainer(cfg)
    trainer.train()
    print(trainer.poem("the "))
