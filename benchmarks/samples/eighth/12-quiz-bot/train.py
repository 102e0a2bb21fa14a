"""A decoder that answers quiz questions."""
from types import SimpleNamespace

import numpy as np
import tensorflow as tf
import yaml

from quiz.modules import QuizModel
from quiz.schedules import SCHEDULES


def load_config(path="config.yaml"):
    with open(path) as f:
        raw = yaml.safe_load(f)
    return SimpleNamespace(**{
        key: SimpleNamespace(**value) if isinstance(value, dict) else value
        for key, value in raw.items()
    })


def make_batches(tok, vocab_size, batch_size, n=64):
    """Sequences question + answer; the label is the next token."""
    rng = np.random.default_rng(4)
    length = tok.max_question + tok.max_answer
    ids = rng.integers(1, vocab_size, (n, length + 1))
    ids[: n // 4, -3:] = tok.pad_id
    return tf.data.Dataset.from_tensor_slices((ids[:, :-1], ids[:, 1:])).batch(batch_size)


def make_optimizer(cfg, d_model):
    opt = cfg.optimizer
    schedule = SCHEDULES[cfg.schedule.name](d_model, cfg.schedule.warmup_steps)
    return tf.keras.optimizers.AdamW(
        learning_rate=opt.lr,
        beta_1=opt.betas[0],
        beta_2=opt.betas[1],
        weight_decay=opt.weight_decay,
        clipnorm=opt.clip_norm,
        clipvalue=opt.clip_value,
    )


def main():
    cfg = load_config()
    tf.keras.utils.set_random_seed(cfg.seed)
    batches = make_batches(cfg.tokenizer, cfg.model.vocab_size, cfg.train.batch_size)
    model = QuizModel(cfg.model)
    model.compile(
        optimizer=make_optimizer(cfg, cfg.model.d_model),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(**vars(cfg.loss)),
    )
    history = model.fit(batches, epochs=cfg.train.epochs, verbose=0)
    print(cfg.experiment, "loss %.5f" % history.history["loss"][-1])


if __name__ == "__main__":
    main()
