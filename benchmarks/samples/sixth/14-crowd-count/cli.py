import os

import click
import tensorflow as tf
import yaml

import crowd


@click.group()
@click.option("--config", default=lambda: os.environ.get("CROWD_CONFIG", "crowd.yaml"))
@click.pass_context
def cli(ctx, config):
    with open(config) as f:
        ctx.obj = yaml.safe_load(f)


@cli.command()
@click.option("--epochs", type=int, default=None)
@click.pass_obj
def train(cfg, epochs):
    t = cfg["training"]
    tf.keras.utils.set_random_seed(int(os.getenv("SEED", 12)))
    model = crowd.counter(cfg["data"]["size"], **cfg["model"])
    opt = tf.keras.optimizers.Nadam(use_ema=True, ema_momentum=1 - float(t["ema"]), **cfg["optimizer"])
    model.compile(opt, t["loss"], metrics=[tf.keras.metrics.RootMeanSquaredError(name="rmse")])
    log = model.fit(crowd.frames(**cfg["data"], seed=1), validation_data=crowd.frames(**cfg["data"], seed=2),
                    epochs=epochs or t["epochs"], callbacks=crowd.make_callbacks(t["callbacks"]), verbose=0)
    print("rmse", log.history["val_rmse"][-1])


@cli.command()
@click.pass_obj
def summary(cfg):
    crowd.counter(cfg["data"]["size"], **cfg["model"]).summary()


if __name__ == "__main__":
    cli()
