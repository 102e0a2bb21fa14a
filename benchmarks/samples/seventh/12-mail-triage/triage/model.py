import tensorflow as tf

from triage import encoders, losses  # noqa: F401
from triage.registry import ENCODERS, LOSSES


class Tagger(tf.keras.Model):
    def __init__(self, encoder, num_tags):
        super().__init__()
        self.encoder = encoder
        self.tags = tf.keras.layers.Dense(num_tags)

    def call(self, tokens):
        return self.tags(self.encoder(tokens))


def from_config(cfg):
    encoder = ENCODERS.create(cfg["encoder"], vocab_size=cfg["vocab_size"])
    model = Tagger(encoder, cfg["num_tags"])
    opt = cfg["optimizer"]
    model.compile(
        optimizer=getattr(tf.keras.optimizers, opt["name"])(**opt["params"]),
        loss=LOSSES.create(cfg["loss"]),
        metrics=[tf.keras.metrics.AUC(multi_label=True, num_labels=cfg["num_tags"],
                                      from_logits=True, name="auc")],
    )
    return model
