import tensorflow as tf
from absl import app, flags, logging

import dances

FLAGS = flags.FLAGS
flags.DEFINE_string("data_dir", None, "Where the dances are kept.")
flags.DEFINE_integer("dances", 200, "How many dances.", lower_bound=8)
flags.DEFINE_integer("frames", 30, "Frames of a dance.")
flags.DEFINE_integer("image_size", 96, "Side of a frame.")
flags.DEFINE_integer("batch_size", 32, "Batch size.")
flags.DEFINE_integer("epochs", 10, "Epochs.")
flags.DEFINE_enum("optimizer", "adam", ["adam", "sgd"], "Optimizer.")
flags.DEFINE_float("lr", 1e-3, "Learning rate at the start.")
flags.DEFINE_float("lr_decay", 1.0, "Factor of the learning rate after each epoch.")
flags.mark_flag_as_required("data_dir")


def build(frames):
    return tf.keras.Sequential([
        tf.keras.Input((frames, 2)),
        tf.keras.layers.Conv1D(16, 5, activation="relu"),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(2),
    ])


def make_optimizer():
    if FLAGS.optimizer == "adam":
        return tf.keras.optimizers.Adam(FLAGS.lr)
    return tf.keras.optimizers.SGD(FLAGS.lr, momentum=0.9)


def main(_):
    tf.keras.utils.set_random_seed(8)
    train, val = dances.datasets(FLAGS.data_dir, FLAGS.dances, FLAGS.frames, FLAGS.batch_size)
    model, optimizer = build(FLAGS.frames), make_optimizer()
    loss_fn = tf.keras.losses.CosineSimilarity()
    val_loss = tf.keras.metrics.Mean()

    @tf.function
    def train_step(x, y, number):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        if number % 4 == 0:
            tf.print("step", number, "loss", loss)

    @tf.function
    def val_step(x, y):
        val_loss.update_state(loss_fn(y, model(x, training=False)))

    for epoch in range(FLAGS.epochs):
        for number, (x, y) in enumerate(train):
            train_step(x, y, number)
        val_loss.reset_states()
        for x, y in val:
            val_step(x, y)
        logging.info("epoch %d val %.4f", epoch, float(val_loss.result()))
        optimizer.lr.assign(optimizer.lr * FLAGS.lr_decay)
    print("val", float(val_loss.result()))


if __name__ == "__main__":
    app.run(main)
