import tensorflow as tf
import yaml

from models import MODELS
from pipeline import DATASETS


def pop_name(section):
    section = dict(section)
    return section.pop("name"), section


def main():
    with open("change.yaml") as f:
        cfg = yaml.safe_load(f)
    tf.keras.utils.set_random_seed(2)
    name, kwargs = pop_name(cfg["dataset"])
    ds = DATASETS[name](**kwargs)
    tile, bands = kwargs["tile"], kwargs["bands"]
    name, kwargs = pop_name(cfg["model"])
    model = MODELS[name]((tile, tile, bands), **kwargs)
    t = cfg["train"]
    opt = getattr(tf.keras.optimizers, t["optimizer"])(**t["optimizer_args"])
    model.compile(opt, "binary_crossentropy", run_eagerly=t["eager"])
    log = model.fit(ds, epochs=t["epochs"], steps_per_epoch=t["steps_per_epoch"], verbose=0)
    print("loss", log.history["loss"])


if __name__ == "__main__":
    main()
