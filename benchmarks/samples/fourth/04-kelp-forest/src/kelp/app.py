"""Measure how dense a kelp forest is."""
import click
import numpy as np
import tensorflow as tf

from kelp.plan import read


def water(site):
    x = np.random.rand(site.fronds, site.depth).astype("float32")
    return x + site.murk * np.random.randn(*x.shape).astype("float32"), x.mean(axis=1, keepdims=True)


@click.group()
def cli():
    pass


@cli.command()
@click.argument("plan", type=click.Path(exists=True), default="dives/shallow.toml")
@click.option("--seed", default=2, show_default=True)
@click.option("--laps", type=int, default=None, help="Laps; those of the plan if not given.")
@click.option("--quiet/--loud", default=True)
@click.option("--fins", default=1.0, help="Scale of the weights at the start.")
def swim(plan, seed, laps, quiet, fins):
    plan = read(plan)
    tf.keras.utils.set_random_seed(seed)
    x, y = water(plan.site)
    layers = [tf.keras.layers.Dense(n, activation=plan.net.bend) for n in plan.net.blades]
    model = tf.keras.Sequential([tf.keras.Input((plan.site.depth,)), *layers, tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(plan.swim.pace, beta_1=plan.swim.extra.get("beta", 0.9)), "mse")
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(plan.swim.shoal)
    log = model.fit(ds.prefetch(tf.data.AUTOTUNE), epochs=laps or plan.swim.laps, verbose=0 if quiet else 2)
    print(plan.title, "loss", log.history["loss"])


if __name__ == "__main__":
    cli()
