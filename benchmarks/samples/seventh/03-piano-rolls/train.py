import argparse

import tensorflow as tf

from pianoroll.net import RollModel
from pianoroll.rolls import datasets
from pianoroll.settings import Settings


class Composer:
    def __init__(self, s: Settings):
        self.s = s
        self.model = RollModel(s.net, s.roll.pitches)
        self.optimizer = tf.keras.optimizers.Adam(s.fit.rate)
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        self.loss = tf.keras.metrics.Mean()

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x)
            loss = self.bce(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads = tf.clip_by_global_norm(grads, self.s.fit.grad_clip)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.loss.update_state(loss)

    @tf.function
    def score(self, x, y):
        return self.bce(y, self.model(x, training=False))

    def run(self, train, val):
        for epoch in range(self.s.fit.epochs):
            self.loss.reset_state()
            for i, (x, y) in enumerate(train):
                self.step(x, y)
                if i % self.s.fit.log_steps == 0:
                    print(f"epoch {epoch} step {i} loss {self.loss.result():.4f}")
            scores = [float(self.score(x, y)) for x, y in val]
            print(f"epoch {epoch} val {sum(scores) / len(scores):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("settings", nargs="?", default="settings.json")
    settings = Settings.from_json(parser.parse_args().settings)
    tf.keras.utils.set_random_seed(settings.fit.seed)
    Composer(settings).run(*datasets(settings.roll, settings.fit.seed))
