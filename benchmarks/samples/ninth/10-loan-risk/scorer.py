import tensorflow as tf
from absl import flags

FLAGS = flags.FLAGS

flags.DEFINE_list("hidden_units", ["16"], "Sizes of the hidden layers.")
flags.DEFINE_float("dropout", 0.1, "Share of hidden units that are left out.")
flags.DEFINE_bool("use_batch_norm", True, "Normalise each hidden layer.")
flags.DEFINE_string("head", "sigmoid", "Activation of the last layer.")


def block(model, units, rate=FLAGS.dropout):
    model.add(tf.keras.layers.Dense(int(units)))
    if FLAGS.use_batch_norm:
        model.add(tf.keras.layers.BatchNormalization())
    model.add(tf.keras.layers.ReLU())
    model.add(tf.keras.layers.Dropout(rate))


def build(columns):
    model = tf.keras.Sequential([tf.keras.Input((columns,))])
    for units in FLAGS.hidden_units:
        block(model, units)
    model.add(tf.keras.layers.Dense(1, activation=FLAGS.head))
    return model
