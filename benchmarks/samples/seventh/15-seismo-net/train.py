"""python train.py [key=value ...], for instance python train.py train.steps=500"""
import sys

import tensorflow as tf
from omegaconf import OmegaConf

from seismo import net, waves


def main(overrides):
    cfg = OmegaConf.merge(OmegaConf.load("seismo.yaml"), OmegaConf.from_dotlist(overrides))
    tf.keras.utils.set_random_seed(cfg.train.seed)
    train, test = waves.datasets(cfg.data, cfg.train.seed)
    model = net.build(cfg.model, cfg.data)
    rate = tf.keras.optimizers.schedules.PolynomialDecay(
        cfg.train.learning_rate, cfg.train.steps, cfg.train.end_rate)
    optimizer = tf.keras.optimizers.Adam(rate, global_clipnorm=cfg.train.clip_norm)
    optimizer.build(model.trainable_variables)
    bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    accuracy = tf.keras.metrics.BinaryAccuracy(threshold=0.0)

    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
    manager = tf.train.CheckpointManager(checkpoint, cfg.train.folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = bce(y, model(x, training=True)) + tf.add_n(model.losses)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def test_step(x, y):
        accuracy.update_state(y, model(x, training=False))

    for x, y in train.take(max(cfg.train.steps - int(step), 0)):
        loss = train_step(x, y)
        step.assign_add(1)
        if int(step) % cfg.train.save_every == 0:
            accuracy.reset_state()
            for a, b in test:
                test_step(a, b)
            manager.save(checkpoint_number=int(step))
            print(f"step {int(step)} loss {float(loss):.3f} accuracy {float(accuracy.result()):.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
