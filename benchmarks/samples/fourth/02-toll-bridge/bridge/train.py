"""Predict how long the queue at the toll bridge is."""
import tensorflow as tf
from absl import app

from . import data, net
from .flags import FLAGS


def main(argv):
    del argv
    tf.keras.utils.set_random_seed(5)
    x, y = data.queue()
    model = net.build(x.shape[1:])
    model.compile(
        tf.keras.optimizers.AdamW(FLAGS.rate, weight_decay=FLAGS.weight_decay),
        loss=FLAGS.loss)
    watchers = []
    if FLAGS.log_dir_name:
        watchers.append(tf.keras.callbacks.TensorBoard(FLAGS.log_dir_name))
    log = model.fit(x, y, batch_size=8, epochs=FLAGS.epochs, steps_per_epoch=FLAGS.steps,
                    callbacks=watchers, verbose=0)
    print("loss", log.history["loss"])


if __name__ == "__main__":
    app.run(main)
