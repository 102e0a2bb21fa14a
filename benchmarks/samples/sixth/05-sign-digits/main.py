from absl import app, flags, logging
from ml_collections import config_flags

import train

FLAGS = flags.FLAGS
config_flags.DEFINE_config_file("config", "configs/default.py", "Hyperparameters.")


def main(argv):
    del argv
    logging.set_verbosity(logging.WARNING)
    loss = train.train_and_evaluate(FLAGS.config)
    print("eval loss %.5f" % loss)


if __name__ == "__main__":
    app.run(main)
