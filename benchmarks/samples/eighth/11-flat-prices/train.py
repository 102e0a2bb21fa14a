"""Sort flats into price bands.

    python train.py --flagfile=prod.flags
"""
import tensorflow as tf
from absl import app, flags, logging

import data

FLAGS = flags.FLAGS
flags.DEFINE_list("hidden", ["32"], "Units of the hidden layers.")
flags.DEFINE_enum("optimizer", "adam", ["adam", "sgd", "rmsprop"], "Name of the optimizer.")
flags.DEFINE_float("learning_rate", 1e-3, "Learning rate.")
flags.DEFINE_float("l1", 0.0, "L1 penalty of the kernels.")
flags.DEFINE_float("l2", 0.0, "L2 penalty of the kernels.")
flags.DEFINE_bool("batch_norm", True, "Normalise the hidden layers.")
flags.DEFINE_string("loss", "sparse_categorical_crossentropy", "Loss.")
flags.DEFINE_integer("epochs", 5, "Epochs.")
flags.DEFINE_integer("seed", 0, "Random seed.")


def make_model():
    model = tf.keras.Sequential([tf.keras.Input((len(data.COLUMNS),))])
    for units in FLAGS.hidden:
        model.add(tf.keras.layers.Dense(units, kernel_regularizer=tf.keras.regularizers.L2(FLAGS.l2)))
        if FLAGS.batch_norm:
            model.add(tf.keras.layers.BatchNormalization())
        model.add(tf.keras.layers.ReLU())
    model.add(tf.keras.layers.Dense(FLAGS.bands, activation="softmax"))
    return model


def main(argv):
    del argv
    tf.keras.utils.set_random_seed(FLAGS.seed)
    ds = data.flats(FLAGS.seed)
    model = make_model()
    optimizer = tf.keras.optimizers.get(FLAGS.optimizer)
    optimizer.learning_rate = FLAGS.learning_rate
    model.compile(optimizer=optimizer, loss=FLAGS.loss)
    history = model.fit(ds, epochs=FLAGS.epochs, verbose=0)
    logging.info("%d parameters", model.count_params())
    print("loss %.5f" % history.history["loss"][-1])


if __name__ == "__main__":
    app.run(main)
