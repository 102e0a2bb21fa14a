import tomllib

import click
import numpy as np
from dotenv import load_dotenv
from tensorflow import keras


def read_defaults(ctx, param, value):
    with open(value, "rb") as f:
        ctx.default_map = tomllib.load(f)
    return value


@click.group(context_settings={"auto_envvar_prefix": "DANCE"})
@click.option("--config", default="dance.toml", type=click.Path(exists=True), callback=read_defaults, is_eager=True)
@click.option("--seed", default=0, type=int)
@click.option("--joints", default=5, type=int)
@click.pass_context
def cli(ctx, config, seed, joints):
    keras.utils.set_random_seed(seed)
    ctx.obj = joints


def moves(joints, beats, n=24):
    x = np.random.rand(n, beats, joints).astype("float32")
    return x, x.std(axis=(1, 2)) > 0.29


@cli.command()
@click.option("--epochs", default=1, type=int)
@click.option("--batch-size", default=32, type=int)
@click.option("--rate", default=0.1, type=float)
@click.option("--units", default=4, type=click.IntRange(1, 64))
@click.option("--beats", default=8, type=int)
@click.option("--cell", type=click.Choice(["gru", "lstm"]), default="gru")
@click.option("--out", default="/tmp/dance.keras")
@click.pass_obj
def train(joints, epochs, batch_size, rate, units, beats, cell, out):
    layer = {"gru": keras.layers.GRU, "lstm": keras.layers.LSTM}[cell]
    net = keras.Sequential([keras.Input((None, joints)), layer(units), keras.layers.Dense(1, activation="sigmoid")])
    net.compile(keras.optimizers.Adam(rate), "binary_crossentropy")
    log = net.fit(*moves(joints, beats), epochs=epochs, batch_size=batch_size, verbose=0)
    net.save(out)
    click.echo(f"units {units} rate {rate} loss {log.history['loss'][-1]:.4f}")


@cli.command()
@click.argument("path", default="/tmp/dance.keras")
@click.option("--beats", default=8, type=int)
@click.option("--limit", default=0.5)
@click.pass_obj
def score(joints, path, beats, limit):
    net = keras.models.load_model(path)
    x, _ = moves(joints, beats)
    click.echo(f"{(net.predict(x, verbose=0) > limit).mean():.2f} of the moves are wild, {x.shape}")


if __name__ == "__main__":
    load_dotenv("dance.env")
    cli()
