"""Intent of a call from its transcript."""
import json

import tensorflow as tf
from absl import app, flags

import input_pipeline
import model_lib

FLAGS = flags.FLAGS
flags.DEFINE_string("config", "configs/base.json", "Model and training settings.")
flags.DEFINE_integer("batch_size", None, "Overrides the batch size of the config.")
flags.DEFINE_integer("train_steps", 30, "Number of steps.")
flags.DEFINE_integer("eval_batch", 4, "How many batches to evaluate on.")
flags.DEFINE_float("label_smoothing", 0.1, "Smoothing of the targets.")
flags.DEFINE_integer("seed", 0, "Random seed.")


def make_optimizer(opt):
    opt = dict(opt)
    name = opt.pop("name")
    return getattr(tf.keras.optimizers, name)(**opt)


def main(argv):
    del argv
    with open(FLAGS.config) as f:
        config = json.load(f)
    config["train_steps"] = FLAGS.train_steps
    batch_size = FLAGS.batch_size or config["batch_size"]
    tf.keras.utils.set_random_seed(FLAGS.seed)

    model = model_lib.build_model(config)
    optimizer = make_optimizer(config["optimizer"])
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(tokens, labels):
        with tf.GradientTape() as tape:
            logits = model(tokens, training=True)
            loss = loss_fn(labels, logits)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    train_ds = input_pipeline.get_dataset(config, "train", batch_size)
    for step, (tokens, labels) in enumerate(train_ds.take(config["train_steps"]), 1):
        loss = train_step(tokens, labels)
        if step % config["log_every"] == 0:
            print(f"step {step} loss {float(loss):.4f}")

    eval_ds = input_pipeline.get_dataset(config, "eval", batch_size)
    for tokens, labels in eval_ds.take(FLAGS.eval_batches):
        accuracy.update_state(labels, model(tokens))
    print(f"accuracy {float(accuracy.result()):.4f}")


if __name__ == "__main__":
    app.run(main)
