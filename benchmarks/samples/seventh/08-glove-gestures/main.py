"""Gesture training: python main.py --config configs/default.py"""
import tensorflow as tf
from absl import app, flags
from ml_collections import config_flags

import gestures

FLAGS = flags.FLAGS
_CONFIG = config_flags.DEFINE_config_file("config", "configs/default.py")


def make_optimizer(config):
    return tf.keras.optimizers.SGD(config.optim.learning_rate,
                                   momentum=config.optim.momentum,
                                   clipnorm=config.optim.clip_norm)


def main(_):
    config = _CONFIG.value
    tf.keras.utils.set_random_seed(config.seed)
    train, test = gestures.batches(config.data, config.seed)
    model = gestures.GestureNet(config.model, config.data.gestures)
    optimizer = make_optimizer(config)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(model(x, training=True), y)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def test_step(x, y):
        return tf.keras.metrics.sparse_categorical_accuracy(y, model(x, training=False))

    best = None
    for step, (x, y) in enumerate(train.take(config.train.num_steps), start=1):
        loss = train_step(x, y)
        if step % config.train.eval_every == 0:
            hits = tf.concat([test_step(a, b) for a, b in test], 0)
            accuracy = float(tf.reduce_mean(hits))
            best = accuracy if best is None else max(best, accuracy)
            print(f"step {step} loss {float(loss):.3f} test {accuracy:.3f}")
    print(f"best {best:.3f}")


if __name__ == "__main__":
    app.run(main)
