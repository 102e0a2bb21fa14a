"""Score loan applications by the risk of default.

    python train.py --flagfile=configs/prod.flags
"""
import numpy as np
import tensorflow as tf
from absl import app, flags, logging

import scorer

FLAGS = flags.FLAGS

flags.DEFINE_integer("applications", 128, "Number of applications to simulate.")
flags.DEFINE_integer("batch_size", 32, "Applications per step.", lower_bound=1)
flags.DEFINE_integer("epochs", 1, "Passes over the applications.")
flags.DEFINE_float("learning_rate", 1e-3, "Step size.")
flags.DEFINE_float("l1", 0.0, "Strength of the L1 penalty.")
flags.DEFINE_float("positive_weight", 1.0, "Weight of defaulted loans.")
flags.DEFINE_string("tensorboard", None, "Folder for TensorBoard.")


def main(argv):
    if len(argv) > 1:
        raise app.UsageError("Too many command-line arguments.")
    tf.keras.utils.set_random_seed(30)
    x = np.random.normal(size=(FLAGS.applications, 9)).astype("float32")
    y = (x[:, :1] + x[:, 1:2] > 1.0).astype("float32")
    model = scorer.build(x.shape[1])
    model.compile(
        tf.keras.optimizers.Adam(FLAGS.learning_rate), "binary_crossentropy", metrics=["accuracy"]
    )
    callbacks = [tf.keras.callbacks.TensorBoard(FLAGS.tensorboard)] if FLAGS.tensorboard else []
    log = model.fit(
        x, y,
        batch_size=FLAGS.batch_size,
        epochs=FLAGS.epochs,
        class_weight={0: 1.0, 1: FLAGS.positive_weight},
        callbacks=callbacks,
        verbose=0,
    )
    logging.info("done")
    print({name: round(values[-1], 4) for name, values in log.history.items()})


if __name__ == "__main__":
    app.run(main)
