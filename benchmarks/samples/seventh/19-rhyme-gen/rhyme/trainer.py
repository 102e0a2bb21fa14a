import numpy as np
import tensorflow as tf

from rhyme import corpus
from rhyme.schedule import Warmup
from rhyme.transformer import RhymeModel


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.run_cfg = cfg["run"]
        self.data = corpus.dataset(cfg["data"], self.run_cfg["seed"])
        self.model = RhymeModel(cfg["model"], corpus.SIZE, cfg["data"]["max_len"])
        self.optimizer = tf.keras.optimizers.Adam(Warmup(**cfg["schedule"]))
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.model(tf.zeros((1, cfg["data"]["max_len"]), tf.int32))
        self.optimizer.build(self.model.trainable_variables)
        checkpoint = tf.train.Checkpoint(model=self.model)
        self.manager = tf.train.CheckpointManager(checkpoint, self.run_cfg["checkpoint_dir"], 3)
        if self.run_cfg["resume"]:
            checkpoint.restore(self.manager.latest_checkpoint)

    @tf.function
    def step(self, ids, target):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(target, self.model(ids, training=True))
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def train(self):
        for epoch in range(self.run_cfg["epochs"]):
            losses = [float(self.step(ids, target)) for ids, target in self.data]
            print(f"epoch {epoch} loss {np.mean(losses):.3f} after {int(self.optimizer.iterations)} steps")
            self.manager.save()

    def poem(self, start, temperature=1.0):
        max_len = self.cfg["data"]["max_len"]
        ids = [corpus.ALPHABET.index(c) for c in start]
        for _ in range(self.cfg["generate"]["length"]):
            padded = tf.constant([(ids + [0] * max_len)[:max_len]])
            logits = self.model(padded)[0, min(len(ids), max_len) - 1] / temperature
            ids.append(int(tf.random.categorical(logits[None], 1)[0, 0]))
        return corpus.decode(ids)
