"""Route letters to the office that answers them.

    python router.py train --steps 20
    python router.py predict "my parcel is broken"
"""
import os

import click
import numpy as np
import tensorflow as tf

import settings

WORDS = "parcel broken refund price order login password invoice late".split()


@click.group(context_settings={"default_map": settings.load()})
@click.version_option("1.4")
def cli():
    tf.keras.utils.set_random_seed(19)


@cli.command()
@click.option("--letters", type=int)
@click.option("--offices", multiple=True)
@click.option("--steps", type=int)
@click.option("--batch-size", type=int)
@click.option("--learning-rate", "rate", type=float)
@click.option("--ngram-range", nargs=2, type=int)
@click.option("--cache-dir", type=click.Path(file_okay=False))
@click.pass_context
def train(ctx, letters, offices, steps, batch_size, rate, ngram_range, cache_dir):
    weights = ctx.default_map["weights"]
    rate = rate or float(ctx.default_map["learning_rate"])
    texts = np.array([" ".join(np.random.choice(WORDS, 5)) for _ in range(letters)])
    labels = np.random.randint(0, len(offices), letters)
    vectors = tf.keras.layers.TextVectorization(output_mode="multi_hot", ngrams=tuple(ngram_range), max_tokens=80)
    vectors.adapt(texts)
    model = tf.keras.Sequential([
        tf.keras.Input((vectors.vocabulary_size(),)),
        tf.keras.layers.Dense(len(offices), activation="softmax"),
    ])
    model.compile(tf.keras.optimizers.Adam(rate), "sparse_categorical_crossentropy")
    data = tf.data.Dataset.from_tensor_slices((vectors(texts), labels)).repeat().batch(batch_size)
    log = model.fit(
        data,
        steps_per_epoch=steps,
        class_weight={i: weights[office] for i, office in enumerate(offices)},
        verbose=0,
    )
    os.makedirs(cache_dir, exist_ok=True)
    model.save(os.path.join(cache_dir, "router.keras"))
    click.echo(f"loss {log.history['loss'][-1]:.4f}")


@cli.command()
@click.argument("letter")
@click.option("--top", type=click.IntRange(1))
@click.option("--temperature", type=float)
def predict(letter, top, temperature):
    scores = np.array([letter.count(word) for word in WORDS]) / temperature
    click.echo(", ".join(WORDS[i] for i in np.argsort(-scores)[:top]))


if __name__ == "__main__":
    cli()
