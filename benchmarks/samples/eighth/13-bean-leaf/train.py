import click
import tensorflow as tf
import yaml
from tensorflow.keras import layers

import make_data
import pipeline


@click.command()
@click.option("--config", "path", default="config.yaml", type=click.Path(exists=True))
@click.option("--epochs", default=2, show_default=True, help="Number of epochs.")
@click.option("--lr", type=float, default=None, help="Learning rate, instead of the file's.")
def main(path, epochs, lr):
    """Tell healthy bean leaves from sick ones."""
    with open(path) as f:
        cfg = yaml.safe_load(f)
    cfg["train"]["epochs"] = epochs
    if lr is not None:
        cfg["train"]["lr"] = lr
    train, seed = cfg["train"], cfg["train"]["seed"]

    tf.keras.utils.set_random_seed(seed)
    make_data.draw(cfg["data"]["root"], cfg["model"]["classes"])
    train_ds = pipeline.load(cfg["data"], "training", seed)
    val_ds = pipeline.load(cfg["data"], "validation", seed)

    model = tf.keras.Sequential([tf.keras.Input((*cfg["data"]["image_size"], 3))])
    model.add(pipeline.augmentation(cfg["augment"], seed))
    model.add(layers.Rescaling(1 / 255))
    for filters in cfg["model"]["filters"]:
        model.add(layers.Conv2D(filters, 3, activation="relu"))
        model.add(layers.MaxPooling2D())
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(len(cfg["model"]["classes"]), activation="softmax"))
    model.compile(tf.keras.optimizers.Adam(train["lr"]), train["loss"])
    history = model.fit(train_ds, validation_data=val_ds, epochs=train["epochs"], verbose=0)
    click.echo("epochs %d loss %.5f" % (len(history.epoch), history.history["loss"][-1]))


if __name__ == "__main__":
    main()
