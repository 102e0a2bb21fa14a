import sys

import tensorflow as tf
import yaml

from trainers.beats import BeatTrainer

if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "config.yaml"
    with open(path) as stream:
        config = yaml.safe_load(stream)
    tf.keras.utils.set_random_seed(21)
    BeatTrainer(config).run()
