"""Cellular wildfire, learned."""
from absl import app, flags, logging
import numpy as np
import tensorflow as tf
import yaml

FLAGS = flags.FLAGS

flags.DEFINE_string("config", None, "yaml file; flags given on the command line win")
flags.DEFINE_integer("grid", 8, "side of the map", lower_bound=2)
flags.DEFINE_integer("maps", 12, "number of maps")
flags.DEFINE_float("wind", 0.0, "wind from the west")
flags.DEFINE_float("ash", 0.0, "share of burnt ground")
flags.DEFINE_integer("epochs", 1, "epochs")
flags.DEFINE_float("learning_rate", 1e-3, "step size")
flags.DEFINE_multi_integer("filters", [4], "filters of the layers")
flags.DEFINE_enum("activation", "relu", ["relu", "elu"], "activation")
flags.DEFINE_bool("residual", False, "add the input to the output")
flags.mark_flag_as_required("config")


def apply_config(path):
    with tf.io.gfile.GFile(path) as f:
        values = yaml.safe_load(f.read())
    for name, value in values.items():
        flag = FLAGS[name]
        if not flag.present:
            flag.value = value


def build():
    inputs = tf.keras.Input((FLAGS.grid, FLAGS.grid, 1))
    x = inputs
    for f in FLAGS.filters:
        x = tf.keras.layers.Conv2D(f, 3, padding="same", activation=FLAGS.activation)(x)
    x = tf.keras.layers.Conv2D(1, 1)(x)
    if FLAGS.residual:
        x = x + inputs
    return tf.keras.Model(inputs, x)


def main(_):
    apply_config(FLAGS.config)
    tf.keras.utils.set_random_seed(4)
    heat = np.random.rand(FLAGS.maps, FLAGS.grid, FLAGS.grid, 1).astype("float32")
    later = np.roll(heat, 1, axis=2) * (1 + FLAGS.wind)
    model = build()
    model.compile(tf.keras.optimizers.Adam(FLAGS.learning_rate), "mse")
    log = model.fit(heat, later, epochs=FLAGS.epochs, verbose=0)
    logging.info("done")
    print("loss", round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    app.run(main)
